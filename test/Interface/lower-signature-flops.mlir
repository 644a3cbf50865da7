// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function whose result is no tensor keeps its name and its result.
// RUN: attn-opt %s --attn-lower-signature | FileCheck %s

// CHECK: func.func private @f.flops(%[[X:.*]]: memref<?x4xf32, strided<[?, ?], offset: ?>>) -> f64
// CHECK-NOT: materialize_in_destination
// CHECK: return %{{.*}} : f64
func.func private @f.flops(%x: tensor<?x4xf32>) -> f64 {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %i = arith.index_cast %n : index to i64
  %d = arith.sitofp %i : i64 to f64
  return %d : f64
}
