// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax and sigmoid attention of one shape, whose states have buffers of one type.
// sizes: S = 97 | S = 20
!x = tensor<$Sx8xf32>
func.func @softmax_then_sigmoid(%q: !x, %k: !x, %v: !x) -> !x {
  %a = attn.sdpa %q, %k, %v scale 0.35 : (!x, !x, !x) -> !x
  %out = attn.sdpa %a, %k, %v scale 0.35 {normalization = #attn<normalization sigmoid>} : (!x, !x, !x) -> !x
  return %out : !x
}
