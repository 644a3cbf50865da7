// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-yield-into-arguments --verify-diagnostics
func.func @computed(%q: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.while (%i = %c0, %x = %q) : (index, tensor<8xf32>) -> (index, tensor<8xf32>) {
    %go = arith.cmpi slt, %i, %n : index
    %y = arith.addf %x, %x : tensor<8xf32>
    // expected-error @below {{expects a condition that passes tensors of the loop on as they are, and not what it computes}}
    scf.condition(%go) %i, %y : index, tensor<8xf32>
  } do {
  ^bb0(%i: index, %x: tensor<8xf32>):
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %x : index, tensor<8xf32>
  }
  return %r#1 : tensor<8xf32>
}
