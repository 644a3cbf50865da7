// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --emit=obj
func.func @f(%q: tensor<2x?x16xf32>, %k: tensor<2x?x16xf32>, %v: tensor<2x?x16xf32>, %b: tensor<?x0xi1>, %c: tensor<?x0xi1>) -> tensor<2x?x16xf32> {
  %m = arith.andi %b, %c : tensor<?x0xi1>
  %out = attn.sdpa %q, %k, %v scale 0.25 where %m : tensor<?x0xi1> : (tensor<2x?x16xf32>, tensor<2x?x16xf32>, tensor<2x?x16xf32>) -> tensor<2x?x16xf32>
  return %out : tensor<2x?x16xf32>
}
