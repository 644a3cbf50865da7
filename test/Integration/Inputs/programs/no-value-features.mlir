// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values without features: only lse is left.
// sizes: S = 5, T = 7 | S = 40, T = 33
!q = tensor<2x$Sx8xf32>
!k = tensor<2x$Tx8xf32>
!r = tensor<2x$Sxf32>
func.func @no_value_features(%q: !q, %k: !k, %v: tensor<2x$Tx0xf32>) -> (tensor<2x$Sx0xf32>, !r) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.35 returning(out, lse) : (!q, !k, tensor<2x$Tx0xf32>) -> (tensor<2x$Sx0xf32>, !r)
  return %out, %lse : tensor<2x$Sx0xf32>, !r
}
