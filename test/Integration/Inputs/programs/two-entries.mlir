// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two functions to call in one module.
// sizes: B = 2, S = 6 | B = 1, S = 35
!x = tensor<$Bx2x$Sx16xf32>
func.func @encoder(%x: !x) -> !x {
  %out = attn.sdpa %x, %x, %x scale 0.25 : (!x, !x, !x) -> !x
  return %out : !x
}
func.func @decoder(%x: !x, %y: !x) -> !x {
  %a = attn.sdpa %x, %x, %x scale 0.25 where causal(top_left) : (!x, !x, !x) -> !x
  %out = attn.sdpa %a, %y, %y scale 0.25 : (!x, !x, !x) -> !x
  return %out : !x
}
