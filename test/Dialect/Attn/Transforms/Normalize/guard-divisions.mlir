// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-guard-divisions | FileCheck %s

// CHECK-LABEL: func.func @signed
// CHECK-SAME: %[[A:.*]]: tensor<?xi32>, %[[B:.*]]: tensor<?xi32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[LEAST:.*]] = arith.constant -2147483648 : i32
// CHECK-DAG: %[[MINUS:.*]] = arith.constant -1 : i32
// CHECK-DAG: %[[IS0:.*]] = arith.cmpi eq, %[[B]],
// CHECK-DAG: %[[ISLEAST:.*]] = arith.cmpi eq, %[[A]],
// CHECK: %[[BAD:.*]] = arith.ori %[[IS0]]
// CHECK: %[[BY:.*]] = arith.select %[[BAD]], %{{.*}}, %[[B]]
// CHECK: arith.divsi %[[A]], %[[BY]]
func.func @signed(%a: tensor<?xi32>, %b: tensor<?xi32>) -> tensor<?xi32> {
  %q = arith.divsi %a, %b : tensor<?xi32>
  return %q : tensor<?xi32>
}

// CHECK-LABEL: func.func @unsigned
// CHECK: %[[BAD:.*]] = arith.cmpi eq, %arg1, %{{.*}} : tensor<4xi64>
// CHECK: %[[BY:.*]] = arith.select %[[BAD]]
// CHECK: arith.remui %arg0, %[[BY]]
func.func @unsigned(%a: tensor<4xi64>, %b: tensor<4xi64>) -> tensor<4xi64> {
  %q = arith.remui %a, %b : tensor<4xi64>
  return %q : tensor<4xi64>
}

// Numbers, and a constant that has a -1.
// CHECK-LABEL: func.func @numbers
// CHECK: arith.select
// CHECK: arith.floordivsi
// CHECK: arith.select
// CHECK: arith.ceildivsi
func.func @numbers(%a: index, %b: index, %x: tensor<2xi64>) -> (index, tensor<2xi64>) {
  %by = arith.constant dense<[3, -1]> : tensor<2xi64>
  %q = arith.floordivsi %a, %b : index
  %r = arith.ceildivsi %x, %by : tensor<2xi64>
  return %q, %r : index, tensor<2xi64>
}

// CHECK-LABEL: func.func @known
// CHECK-NOT: arith.select
func.func @known(%a: index, %x: tensor<2xi64>) -> (index, tensor<2xi64>, tensor<2xi64>) {
  %c7 = arith.constant 7 : index
  %by = arith.constant dense<[3, -2]> : tensor<2xi64>
  %ones = arith.constant dense<-1> : tensor<2xi64>
  %q = arith.ceildivui %a, %c7 : index
  %r = arith.remsi %x, %by : tensor<2xi64>
  %s = arith.divui %x, %ones : tensor<2xi64>
  return %q, %r, %s : index, tensor<2xi64>, tensor<2xi64>
}
