// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys arrive with a feature per row.
// sizes: S = 6, T = 9 | S = 35, T = 20
!q = tensor<$Sx16xf32>
!k = tensor<$Tx16xf32>
func.func @transposed_keys(%q: !q, %kt: tensor<16x$Txf32>, %v: !k) -> !q {
  %empty = tensor.empty(@T) : !k
  %k = linalg.transpose ins(%kt : tensor<16x$Txf32>) outs(%empty : !k) permutation = [1, 0]
  %a = attn.sdpa %q, %k, %v scale 0.25 : (!q, !k, !k) -> !q
  %out = arith.addf %a, %q : !q
  return %out : !q
}
