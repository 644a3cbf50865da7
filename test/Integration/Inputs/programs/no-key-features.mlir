// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys without features: every score is 0, so that out is the mean of the values and lse the logarithm of their number.
// sizes: S = 5, T = 7 | S = 40, T = 33 | S = 1, T = 1
!r = tensor<2x$Sxf32>
func.func @no_key_features(%q: tensor<2x$Sx0xf32>, %k: tensor<2x$Tx0xf32>, %v: tensor<2x$Tx8xf32>) -> (tensor<2x$Sx8xf32>, !r) {
  %out, %lse = attn.sdpa %q, %k, %v scale 1.0 returning(out, lse)
      : (tensor<2x$Sx0xf32>, tensor<2x$Tx0xf32>, tensor<2x$Tx8xf32>) -> (tensor<2x$Sx8xf32>, !r)
  return %out, %lse : tensor<2x$Sx8xf32>, !r
}
