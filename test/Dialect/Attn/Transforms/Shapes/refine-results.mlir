// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-refine-results | FileCheck %s

// CHECK-LABEL: func.func @sdpa
// CHECK: %[[O:.*]], %[[L:.*]] = attn.sdpa {{.*}} -> (tensor<?x5x8xf32>, tensor<?x5xf32>)
// CHECK-DAG: tensor.cast %[[O]] : tensor<?x5x8xf32> to tensor<?x?x?xf32>
// CHECK-DAG: tensor.cast %[[L]] : tensor<?x5xf32> to tensor<?x?xf32>
func.func @sdpa(%q: tensor<?x5x4xf32>, %v: tensor<?x5x8xf32>) -> (tensor<?x?x?xf32>, tensor<?x?xf32>) {
  %o, %l = attn.sdpa %q, %q, %v scale 0.5 returning(out, lse) : (tensor<?x5x4xf32>, tensor<?x5x4xf32>, tensor<?x5x8xf32>) -> (tensor<?x?x?xf32>, tensor<?x?xf32>)
  return %o, %l : tensor<?x?x?xf32>, tensor<?x?xf32>
}

// CHECK-LABEL: func.func @finalize
// CHECK: attn.finalize_state {{.*}} -> tensor<?x5xf32>
func.func @finalize(%m: tensor<?xf32>, %l: tensor<?xf32>, %a: tensor<?x5xf32>) -> tensor<?x?xf32> {
  %o = attn.finalize_state %m, %l, %a : (tensor<?xf32>, tensor<?xf32>, tensor<?x5xf32>) -> tensor<?x?xf32>
  return %o : tensor<?x?xf32>
}

// Nothing that its operands do not tell.
// CHECK-LABEL: func.func @unknown
// CHECK-NOT: tensor.cast
func.func @unknown(%q: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %o = attn.sdpa %q, %q, %q scale 0.5 : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %o : tensor<?x?xf32>
}

// One feature in, which the weights say, and one out, which the result says.
// CHECK-LABEL: func.func @project
// CHECK-DAG: %[[X:.*]] = tensor.cast %arg0 : tensor<?x?xf32> to tensor<?x1xf32>
// CHECK-DAG: %[[W:.*]] = tensor.cast %arg1 : tensor<1x?xf32> to tensor<1x1xf32>
// CHECK: attn.project %[[X]], %[[W]] : (tensor<?x1xf32>, tensor<1x1xf32>) -> tensor<?x1xf32>
func.func @project(%x: tensor<?x?xf32>, %w: tensor<1x?xf32>) -> tensor<?x1xf32> {
  %y = attn.project %x, %w : (tensor<?x?xf32>, tensor<1x?xf32>) -> tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}
