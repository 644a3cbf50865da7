// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An attention that nobody uses, and two that share their keys.
// sizes: B = 2, S = 6 | B = 1, S = 35
!x = tensor<$Bx2x$Sx16xf32>
func.func @dead_branch(%q: !x, %k: !x, %v: !x) -> !x {
  %unused = attn.sdpa %v, %k, %q scale 0.25 : (!x, !x, !x) -> !x
  %a = attn.sdpa %q, %k, %v scale 0.25 where causal(top_left) : (!x, !x, !x) -> !x
  %b = attn.sdpa %q, %k, %v scale 0.25 where not causal(top_left) : (!x, !x, !x) -> !x
  %out = arith.subf %a, %b : !x
  return %out : !x
}
