// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sequence before the heads, with sizes of 1, and every other feature.
// sizes: B = 1, S = 1, T = 1 | B = 1, S = 1, T = 9 | B = 2, S = 5, T = 3
!q = tensor<$Bx$Sx1x8xf32>
!k = tensor<$Bx$Tx1x8xf32>
!wide = tensor<$Bx$Tx1x16xf32>
func.func @sequence_first_ones(%q: !q, %x: !wide, %v: !k) -> !q {
  %k = tensor.extract_slice %x[0, 0, 0, 0] [@B, @T, 1, 8] [1, 1, 1, 2] : !wide to !k
  %out = attn.sdpa %q, %k, %v scale 0.35
      {query_layout = #attn<layout bshd>, key_layout = #attn<layout bshd>, value_layout = #attn<layout bshd>, out_layout = #attn<layout bshd>}
      : (!q, !k, !k) -> !q
  return %out : !q
}
