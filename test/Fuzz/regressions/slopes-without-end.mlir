// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --compile-to=llvm
!x = tensor<2x2147483648x6x16xf32>
!s = tensor<2x2147483648x6x6xf32>
func.func @softcap_alibi(%q: !x, %k: !x, %v: !x) -> !x {
  %s = attn.scores %q, %k : (!x, !x) -> !s
  %scaled = attn.scale %s by 0.25 : !s
  %capped = attn.softcap %scaled at 20.0 : !s
  %w = attn.softmax %capped : !s
  %a = attn.context %w, %v : (!s, !x) -> !x
  %s2 = attn.scores %a, %k : (!x, !x) -> !s
  %sloped = attn.alibi %s2 aligned top_left : !s
  %m = attn.mask %sloped where causal(top_left) : !s
  %w2 = attn.softmax %m : !s
  %out = attn.context %w2, %v : (!s, !x) -> !x
  return %out : !x
}
