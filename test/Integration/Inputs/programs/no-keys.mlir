// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A call without a key: rows that see no key give 0 and -inf.
// sizes: B = 2, S = 5, T = 0 | B = 1, S = 40, T = 0
!q = tensor<$Bx2x$Sx16xf32>
!k = tensor<$Bx2x$Tx16xf32>
!r = tensor<$Bx2x$Sxf32>
func.func @no_keys(%q: !q, %k: !k, %v: !k) -> (!q, !r) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.25 where causal(bottom_right) returning(out, lse) : (!q, !k, !k) -> (!q, !r)
  return %out, %lse : !q, !r
}
