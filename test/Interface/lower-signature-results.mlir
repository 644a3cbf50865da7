// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several results are arguments in their order; one that is an input is copied.
// RUN: attn-opt %s --attn-lower-signature | FileCheck %s

// CHECK: func.func private @f.kernel(%[[X:.*]]: memref<2xf32, {{[^%]*}}%[[Y:.*]]: memref<3xf32, {{[^%]*}}%[[A:.*]]: memref<3xf32, {{[^%]*}}%[[B:.*]]: memref<2xf32,
// CHECK-DAG: %[[TX:.*]] = bufferization.to_tensor %[[X]]
// CHECK-DAG: %[[TY:.*]] = bufferization.to_tensor %[[Y]]
// CHECK: bufferization.materialize_in_destination %[[TY]] in restrict writable %[[A]]
// CHECK: bufferization.materialize_in_destination %[[TX]] in restrict writable %[[B]]
func.func @f(%x: tensor<2xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<2xf32>) {
  return %y, %x : tensor<3xf32>, tensor<2xf32>
}
