// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention with a residual until the counter, which the loop carries in front of
// its tensors, has passed: two tensors of which one stays.
// sizes: S = 5 | S = 33 | S = 1
!t = tensor<$Sx16xf32>
func.func @loop_until(%x: !t, %key: !t) -> (!t, !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 3 : index
  %true = arith.constant true
  %r:4 = scf.while (%go = %true, %i = %c0, %y = %x, %k = %key) : (i1, index, !t, !t) -> (i1, index, !t, !t) {
    scf.condition(%go) %go, %i, %y, %k : i1, index, !t, !t
  } do {
  ^bb0(%go: i1, %i: index, %y: !t, %k: !t):
    %a = attn.sdpa %y, %k, %x scale 0.25 : (!t, !t, !t) -> !t
    %s = arith.addf %a, %y : !t
    %j = arith.addi %i, %c1 : index
    %more = arith.cmpi slt, %j, %end : index
    scf.yield %more, %j, %s, %k : i1, index, !t, !t
  }
  return %r#2, %r#3 : !t, !t
}
