// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One result in two places.
// sizes: B = 2, S = 6 | B = 1, S = 35
!x = tensor<$Bx2x$Sx16xf32>
func.func @returned_twice(%x: !x) -> (!x, !x) {
  %out = attn.sdpa %x, %x, %x scale 0.25 where causal(top_left) : (!x, !x, !x) -> !x
  return %out, %out : !x, !x
}
