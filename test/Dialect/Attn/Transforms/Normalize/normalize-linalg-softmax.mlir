// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// linalg.softmax becomes the ops that it is made of, of 16 bits in f32.
// RUN: attn-opt %s --attn-normalize | FileCheck %s

// A row of -inf alone gets 0: its maximum counts as the lowest number, its sum
// as the least.
// CHECK-LABEL: func.func @wide(
// CHECK-DAG: %[[LEAST:.*]] = arith.constant 1.17549435E-38 : f32
// CHECK-DAG: %[[LOWEST:.*]] = arith.constant -3.40282347E+38 : f32
// CHECK-NOT: linalg.softmax
// CHECK: linalg.fill ins(%[[LOWEST]] : f32)
// CHECK: arith.maxnumf
// CHECK: math.exp %{{.*}} : f32
// CHECK: linalg.fill ins(%[[LEAST]] : f32)
// CHECK: arith.addf
// CHECK: arith.divf
func.func @wide(%x: tensor<?x8xf32>, %e: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %r = linalg.softmax dimension(1) ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @narrow(
// CHECK: arith.extf %{{.*}} : tensor<4x8xf16> to tensor<4x8xf32>
// CHECK: math.exp %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : tensor<4x8xf32> to tensor<4x8xf16>
func.func @narrow(%x: tensor<4x8xf16>, %e: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %r = linalg.softmax dimension(0) ins(%x : tensor<4x8xf16>) outs(%e : tensor<4x8xf16>) -> tensor<4x8xf16>
  return %r : tensor<4x8xf16>
}
