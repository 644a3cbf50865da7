// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Both attentions of a chain are results, and the first feeds the second.
// sizes: B = 2, S = 6 | B = 1, S = 35
!x = tensor<$Bx2x$Sx16xf32>
func.func @first_of_two_returned(%x: !x, %y: !x) -> (!x, !x) {
  %a = attn.sdpa %x, %x, %x scale 0.25 : (!x, !x, !x) -> !x
  %b = attn.sdpa %a, %y, %y scale 0.25 : (!x, !x, !x) -> !x
  return %a, %b : !x, !x
}
