// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --emit=obj
func.func @f(%q: tensor<?x16xf32>, %kt: tensor<16x?xf32>, %v: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %axis = arith.constant 64 : index
  %n = tensor.dim %kt, %axis : tensor<16x?xf32>
  %empty = tensor.empty(%n) : tensor<?x16xf32>
  %k = linalg.transpose ins(%kt : tensor<16x?xf32>) outs(%empty : tensor<?x16xf32>) permutation = [1, 0]
  %a = attn.sdpa %q, %k, %v scale 0.25 : (tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  return %a : tensor<?x16xf32>
}
