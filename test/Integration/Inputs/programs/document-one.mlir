// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Documents in one sequence: one batch entry, one key head.
// sizes: S = 40 | S = 7 | S = 128
// ids: sorted below 3
!q = tensor<1x2x$Sx16xf32>
!k = tensor<1x1x$Sx16xf32>
func.func @document_one(%q: !q, %k: !k, %v: !k, %ids: tensor<$Sxi32>) -> !q {
  %out = attn.sdpa %q, %k, %v scale 0.25 where document(%ids : tensor<$Sxi32>) : (!q, !k, !k) -> !q
  return %out : !q
}
