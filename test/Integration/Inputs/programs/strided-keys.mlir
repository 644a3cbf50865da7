// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys are every other feature of a wider tensor.
// sizes: S = 7, T = 9 | S = 33, T = 20
!q = tensor<$Sx8xf32>
!k = tensor<$Tx8xf32>
func.func @strided_keys(%q: !q, %x: tensor<$Tx16xf32>, %v: !k) -> !q {
  %k = tensor.extract_slice %x[0, 0] [@T, 8] [1, 2] : tensor<$Tx16xf32> to !k
  %out = attn.sdpa %q, %k, %v scale 0.35 : (!q, !k, !k) -> !q
  return %out : !q
}
