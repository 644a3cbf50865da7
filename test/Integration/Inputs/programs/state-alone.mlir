// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A state without its attention's result, of 8 rows that not every type knows.
// sizes: B = 2, S = 8, P = 9 | B = 1, S = 8, P = 8200
!q = tensor<$Bx2x8x16xf32>
!k = tensor<$Bx2x$Px16xf32>
!r = tensor<$Bx2x$Sxf32>
func.func @state_alone(%q: !q, %k: !k) -> (!r, !r, !q) {
  %o, %m, %l, %a = attn.sdpa %q, %k, %k scale 0.25 returning(out, state) : (!q, !k, !k) -> (!q, !r, !r, !q)
  return %m, %l, %a : !r, !r, !q
}
