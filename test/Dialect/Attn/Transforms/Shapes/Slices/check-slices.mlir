// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// @NAME.slices compares slices with their tensors where the types do not: a size
// that another argument tells, an offset that an argument holds, bounds of loops.
// RUN: attn-opt %s --attn-check-slices --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func.func @other
// CHECK: func.func private @other.slices(%arg0: tensor<?x8xf32>, %arg1: tensor<?x8xf32>) -> i32
// CHECK-DAG: %[[K:.*]] = tensor.dim %arg0, %c0
// CHECK-DAG: %[[V:.*]] = tensor.dim %arg1, %c0
// CHECK: arith.cmpi sle, %[[K]], %[[V]]
func.func @other(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %k, %c0 : tensor<?x8xf32>
  %part = tensor.extract_slice %v[0, 0] [%n, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
  return %part : tensor<?x8xf32>
}

// Its own size, and what the types know.
// CHECK-NOT: @own.slices
func.func @own(%v: tensor<?x8xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %v, %c0 : tensor<?x8xf32>
  %part = tensor.extract_slice %v[0, 1] [%n, 4] [1, 2] : tensor<?x8xf32> to tensor<?x4xf32>
  return %part : tensor<?x4xf32>
}

// CHECK-LABEL: func.func private @insert.slices
// CHECK: %[[T:.*]] = tensor.dim %arg1, %c0
// CHECK: arith.cmpi sge, %[[T]], %c5
func.func @insert(%row: tensor<1x8xf32>, %cache: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %r = tensor.insert_slice %row into %cache[4, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// The last of three rows, two apart, from an offset that the call holds.
// CHECK-LABEL: func.func private @held.slices
// CHECK: %[[AT:.*]] = arith.index_cast
// CHECK-DAG: arith.cmpi sge, %[[AT]], %c0
// CHECK-DAG: arith.addi %[[AT]], %c5
func.func @held(%x: tensor<?x8xf32>, %at: tensor<i64>) -> tensor<3x8xf32> {
  %a = tensor.extract %at[] : tensor<i64>
  %i = arith.index_cast %a : i64 to index
  %r = tensor.extract_slice %x[%i, 0] [3, 8] [2, 1] : tensor<?x8xf32> to tensor<3x8xf32>
  return %r : tensor<3x8xf32>
}

// All turns of a loop, if it has one.
// CHECK-LABEL: func.func private @loop.slices
// CHECK: %[[N:.*]] = tensor.dim %arg0, %c0
// CHECK: %[[M:.*]] = tensor.dim %arg1, %c0
// CHECK: %[[RUNS:.*]] = arith.cmpi sgt, %[[N]], %c0
// CHECK: arith.cmpi sle, %[[N]], %[[M]]
// CHECK: arith.select %[[RUNS]], %{{.*}}, %true
func.func @loop(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %r = scf.forall (%i) in (%n) shared_outs(%o = %x) -> tensor<?x8xf32> {
    %row = tensor.extract_slice %y[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<?x8xf32>
    }
  }
  return %r : tensor<?x8xf32>
}
