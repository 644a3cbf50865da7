// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Few words attend to the keys before they attend to each other; both branches have two results.
// sizes: S = 2, T = 9 | S = 33, T = 9
!x = tensor<2x$Sx8xf32>
!k = tensor<2x$Tx8xf32>
func.func @few_words(%x: !x, %k: !k) -> (!x, !x) {
  %one = arith.constant 1 : index
  %words = tensor.dim %x, %one : !x
  %four = arith.constant 4 : index
  %few = arith.cmpi slt, %words, %four : index
  %r:2 = scf.if %few -> (!x, !x) {
    %a = attn.sdpa %x, %k, %k scale 0.35 : (!x, !k, !k) -> !x
    scf.yield %a, %x : !x, !x
  } else {
    %y = arith.addf %x, %x : !x
    scf.yield %x, %y : !x, !x
  }
  %t = math.tanh %r#0 : !x
  %out = attn.sdpa %t, %r#1, %t scale 0.35 : (!x, !x, !x) -> !x
  return %out, %t : !x, !x
}
