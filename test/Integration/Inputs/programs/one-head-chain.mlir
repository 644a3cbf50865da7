// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rank 2: one head, without a batch, twice in a row.
// sizes: S = 6, T = 9 | S = 1, T = 40 | S = 50, T = 1
!q = tensor<$Sx16xf32>
!k = tensor<$Tx16xf32>
func.func @one_head_chain(%q: !q, %k: !k, %v: !k) -> !q {
  %a = attn.sdpa %q, %k, %v scale 0.25 : (!q, !k, !k) -> !q
  %out = attn.sdpa %a, %k, %v scale 0.25 : (!q, !k, !k) -> !q
  return %out : !q
}
