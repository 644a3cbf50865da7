// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One feature: of rows that lie in front of heads, and of one batch entry with one head and one row.
// sizes: S = 1, T = 1 | S = 7, T = 40
!q = tensor<$Sx4x1xf32>
!k = tensor<$Tx1x1xf32>
!o = tensor<4x$Sx1xf32>
func.func @one_feature(%q: !q, %k: !k) -> !o {
  %out = attn.sdpa %q, %k, %k scale 0.5 {query_layout = #attn<layout bshd>, key_layout = #attn<layout bshd>, value_layout = #attn<layout bshd>} : (!q, !k, !k) -> !o
  return %out : !o
}
!one = tensor<1x1x1x1xf32>
func.func @one_of_all(%q: !one, %k: !one) -> !one {
  %out = attn.sdpa %q, %k, %k scale 0.5 : (!one, !one, !one) -> !one
  return %out : !one
}
