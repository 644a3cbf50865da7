// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An argument comes back unchanged beside the result.
// sizes: B = 2, S = 6 | B = 1, S = 35
!x = tensor<$Bx2x$Sx16xf32>
func.func @argument_returned(%q: !x, %k: !x) -> (!x, !x) {
  %out = attn.sdpa %q, %k, %k scale 0.25 : (!x, !x, !x) -> !x
  return %k, %out : !x, !x
}
