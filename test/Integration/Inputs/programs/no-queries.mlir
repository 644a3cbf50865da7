// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A call without a query.
// sizes: B = 2, S = 0, T = 5 | B = 1, S = 0, T = 40
!q = tensor<$Bx2x$Sx16xf32>
!k = tensor<$Bx2x$Tx16xf32>
!r = tensor<$Bx2x$Sxf32>
func.func @no_queries(%q: !q, %k: !k, %v: !k) -> (!q, !r) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.25 returning(out, lse) : (!q, !k, !k) -> (!q, !r)
  return %out, %lse : !q, !r
}
