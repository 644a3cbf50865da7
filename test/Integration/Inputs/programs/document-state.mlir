// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Everything that an attention over documents can return.
// sizes: B = 2, S = 20 | B = 1, S = 70
// ids: sorted below 4
!x = tensor<$Bx2x$Sx16xf32>
!r = tensor<$Bx2x$Sxf32>
func.func @document_state(%q: !x, %k: !x, %v: !x, %ids: tensor<$Bx$Sxi32>) -> (!x, !r, !r, !r, !x) {
  %out, %lse, %m, %l, %acc = attn.sdpa %q, %k, %v scale 0.25 where document(%ids : tensor<$Bx$Sxi32>)
      returning(out, lse, state) : (!x, !x, !x) -> (!x, !r, !r, !r, !x)
  return %out, %lse, %m, %l, %acc : !x, !r, !r, !r, !x
}
