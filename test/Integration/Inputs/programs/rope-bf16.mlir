// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rotated queries and keys in bf16.
// sizes: B = 2, S = 6 | B = 1, S = 40
// scale: 1
!x = tensor<$Bx2x$Sx16xbf16>
!t = tensor<64x8xf32>
func.func @rope_bf16(%q: !x, %k: !x, %v: !x, %cos: !t, %sin: !t) -> !x {
  %q1 = attn.rope %q, %cos, %sin : !x, !t
  %k1 = attn.rope %k, %cos, %sin : !x, !t
  %out = attn.sdpa %q1, %k1, %v scale 0.1 where causal(top_left) : (!x, !x, !x) -> !x
  return %out : !x
}
