// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor of unknown sizes compared with itself is a constant of its sizes.
// RUN: attn-opt %s --attn-normalize-constants | FileCheck %s
// RUN: attn-opt %s --canonicalize --verify-each=0 | FileCheck %s --check-prefix=MLIR

// MLIR-LABEL: @equal
// MLIR: arith.constant dense<true> : tensor<?x3xi1>
// CHECK-LABEL: @equal
// CHECK-SAME: %[[X:.*]]: tensor<?x3xi64>
// CHECK-DAG:  %[[TRUE:.*]] = arith.constant true
// CHECK-DAG:  %[[N:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK:      %[[R:.*]] = tensor.splat %[[TRUE]][%[[N]]] : tensor<?x3xi1>
// CHECK:      return %[[R]]
func.func @equal(%x: tensor<?x3xi64>) -> tensor<?x3xi1> {
  %r = arith.cmpi eq, %x, %x : tensor<?x3xi64>
  return %r : tensor<?x3xi1>
}

// CHECK-LABEL: @less
// CHECK:      arith.constant false
// CHECK:      tensor.splat
func.func @less(%x: tensor<?xi32>) -> tensor<?xi1> {
  %r = arith.cmpi ult, %x, %x : tensor<?xi32>
  return %r : tensor<?xi1>
}

// CHECK-LABEL: @both
// CHECK:      arith.constant 0 : i64
// CHECK:      tensor.splat
func.func @both(%x: tensor<?x?xi64>) -> tensor<?x?xi64> {
  %r = arith.xori %x, %x : tensor<?x?xi64>
  return %r : tensor<?x?xi64>
}

// Two tensors, known sizes, and a number: left alone.
// CHECK-LABEL: @others
// CHECK-NOT:  tensor.splat
// CHECK:      arith.cmpi eq
// CHECK:      arith.xori
// CHECK:      arith.cmpi
func.func @others(%x: tensor<?xi64>, %y: tensor<?xi64>, %z: tensor<4xi64>, %i: i64)
    -> (tensor<?xi1>, tensor<4xi64>, i1) {
  %r = arith.cmpi eq, %x, %y : tensor<?xi64>
  %s = arith.xori %z, %z : tensor<4xi64>
  %t = arith.cmpi sge, %i, %i : i64
  return %r, %s, %t : tensor<?xi1>, tensor<4xi64>, i1
}
