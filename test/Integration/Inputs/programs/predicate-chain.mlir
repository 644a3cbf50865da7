// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mask written as code, before and behind a residual.
// sizes: B = 2, S = 9 | B = 1, S = 50
!x = tensor<$Bx2x$Sx8xf32>
!s = tensor<$Bx2x$Sx$Sxf32>
func.func @predicate_chain(%x: !x) -> !x {
  %s1 = attn.scores %x, %x : (!x, !x) -> !s
  %m1 = attn.mask_fn %s1 (%b, %h, %q, %k) {
    %near = arith.cmpi sle, %k, %q : index
    attn.yield %near : i1
  } : !s
  %w1 = attn.softmax %m1 : !s
  %a = attn.context %w1, %x : (!s, !x) -> !x
  %y = arith.addf %x, %a : !x
  %s2 = attn.scores %y, %y : (!x, !x) -> !s
  %scaled = attn.scale %s2 by 0.2 : !s
  %m2 = attn.mask_fn %scaled (%b, %h, %q, %k) {
    %c4 = arith.constant 4 : index
    %d = arith.subi %q, %k : index
    %far = arith.cmpi slt, %d, %c4 : index
    attn.yield %far : i1
  } : !s
  %w2 = attn.softmax %m2 : !s
  %out = attn.context %w2, %y : (!s, !x) -> !x
  return %out : !x
}
