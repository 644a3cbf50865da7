// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
func.func @f(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %scores = attn.scores %q, %k : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x?xf32>
  %masked = attn.mask %scores where window(left = 300, right = 0) : tensor<?x?xf32>
  %weights = attn.softmax %masked : tensor<?x?xf32>
  %out = attn.context %weights, %v : (tensor<?x?xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %out : tensor<?x8xf32>
}
