// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-join-branches --split-input-file --verify-diagnostics | FileCheck %s

// Both branches put their tensors where those of the other lie; a number stays.
// CHECK-LABEL: @joined(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[Y:.*]]: tensor<?x8xf32>
// CHECK: %[[N:.*]] = tensor.dim %[[X]], %c0
// CHECK: %[[PLACE:.*]] = bufferization.alloc_tensor(%[[N]]) : tensor<?x8xf32>
// CHECK: %{{.*}}:2 = scf.if
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: %[[A:.*]] = bufferization.materialize_in_destination %[[SUM]] in %[[PLACE]]
// CHECK: scf.yield %[[A]], %c1
// CHECK: } else {
// CHECK: %[[B:.*]] = bufferization.materialize_in_destination %[[X]] in %[[PLACE]]
// CHECK: scf.yield %[[B]], %c0
func.func @joined(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>, %c: i1) -> (tensor<?x8xf32>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.if %c -> (tensor<?x8xf32>, index) {
    %sum = arith.addf %x, %y : tensor<?x8xf32>
    scf.yield %sum, %c1 : tensor<?x8xf32>, index
  } else {
    scf.yield %x, %c0 : tensor<?x8xf32>, index
  }
  return %r#0, %r#1 : tensor<?x8xf32>, index
}

// -----

func.func @apart(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>, %c: i1) -> tensor<?x8xf32> {
  // expected-error @+1 {{expects branches with sizes that follow from the arguments, but dimension 0 of result 0 depends on the branch}}
  %r = scf.if %c -> (tensor<?x8xf32>) {
    scf.yield %x : tensor<?x8xf32>
  } else {
    scf.yield %y : tensor<?x8xf32>
  }
  return %r : tensor<?x8xf32>
}
