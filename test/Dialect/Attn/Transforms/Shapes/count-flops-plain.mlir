// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Without a mask: batch * heads * queries * keys * 2 * (key dim + value dim).
// RUN: attn-opt %s --attn-count-flops --canonicalize --cse | FileCheck %s

// CHECK: func.func @f(
// CHECK: func.func private @f.flops(%{{.*}}: tensor<?x8x?x4xf32>, %{{.*}}: tensor<?x2x?x4xf32>, %{{.*}}: tensor<?x2x?x6xf32>) -> f64
// CHECK-DAG: %[[PER:.*]] = arith.constant 2.000000e+01 : f64
// CHECK-DAG: %[[B:.*]] = tensor.dim %arg0, %c0
// CHECK-DAG: %[[SQ:.*]] = tensor.dim %arg0, %c2
// CHECK-DAG: %[[SK:.*]] = tensor.dim %arg1, %c2
// CHECK-NOT: scf.for
// CHECK-DAG: arith.muli %[[B]], %c8
// CHECK-DAG: arith.muli %[[SQ]], %[[SK]]
// CHECK: arith.mulf %{{.*}}, %[[PER]] : f64
func.func @f(%q: tensor<?x8x?x4xf32>, %k: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x6xf32>) -> tensor<?x8x?x6xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.5 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x6xf32>) -> tensor<?x8x?x6xf32>
  return %o : tensor<?x8x?x6xf32>
}

// Two maps multiply everything twice.
// CHECK: func.func private @two_maps.flops(
// CHECK: %[[PER:.*]] = arith.constant 4.000000e+01 : f64
// CHECK: arith.mulf %{{.*}}, %[[PER]] : f64
func.func @two_maps(%q: tensor<?x8x?x4xf32>, %k: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x6xf32>, %l: tensor<8xf32>) -> tensor<?x8x?x6xf32> {
  %o = attn.sdpa %q, %k, %v minus %q, %k by %l : tensor<8xf32> scale 0.5 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x6xf32>) -> tensor<?x8x?x6xf32>
  return %o : tensor<?x8x?x6xf32>
}
