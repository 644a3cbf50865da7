// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors that a loop yields are put where its arguments lie; one that is passed on
// as it is stays, and so does what is no tensor.
// RUN: attn-opt %s --attn-yield-into-arguments | FileCheck %s

// CHECK-LABEL: @layers
// CHECK: scf.for {{.*}} iter_args(%[[X:.*]] = %arg0, %[[K:.*]] = %arg1, %{{.*}} = %{{.*}})
// CHECK: %[[Y:.*]] = arith.addf
// CHECK: %[[NEXT:.*]] = bufferization.materialize_in_destination %[[Y]] in %[[X]]
// CHECK: scf.yield %[[NEXT]], %[[K]], %{{.*}}
func.func @layers(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %n: index) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %q, %key = %k, %s = %c0) -> (tensor<?x8xf32>, tensor<?x8xf32>, index) {
    %y = arith.addf %x, %x : tensor<?x8xf32>
    %t = arith.addi %s, %i : index
    scf.yield %y, %key, %t : tensor<?x8xf32>, tensor<?x8xf32>, index
  }
  return %r#0 : tensor<?x8xf32>
}
