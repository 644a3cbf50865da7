// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-lower-states --split-input-file | FileCheck %s

// Numbers of rows broadcast to features; a state without a key changes no bit.
// CHECK-DAG:   #[[ALL:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG:   #[[ROW:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @merge(
// CHECK-SAME:    %[[M1:[^:]*]]: tensor<8x?xf32>, %[[L1:[^:]*]]: tensor<8x?xf32>, %[[A1:[^:]*]]: tensor<8x?x64xf32>,
// CHECK-SAME:    %[[M2:[^:]*]]: tensor<8x?xf32>, %[[L2:[^:]*]]: tensor<8x?xf32>, %[[A2:[^:]*]]: tensor<8x?x64xf32>)
// CHECK:         %[[M:.*]] = linalg.generic {{.*}} ins(%[[M1]], %[[M2]] :
// CHECK:           arith.maximumf
// CHECK:         %[[L:.*]] = linalg.generic {{.*}} ins(%[[M1]], %[[M2]], %[[L1]], %[[L2]] :
// CHECK:         %[[A:.*]] = linalg.generic {indexing_maps = [#[[ROW]], #[[ROW]], #[[ALL]], #[[ALL]], #[[ALL]]]{{.*}} ins(%[[M1]], %[[M2]], %[[A1]], %[[A2]] :
// CHECK:         ^bb0(%[[X1:.*]]: f32, %[[X2:.*]]: f32, %[[Y1:.*]]: f32, %[[Y2:.*]]: f32,
// CHECK:           %[[SUM:.*]] = arith.addf
// CHECK-DAG:       %[[EMPTY2:.*]] = arith.cmpf oeq, %[[X2]]
// CHECK-DAG:       %[[EMPTY1:.*]] = arith.cmpf oeq, %[[X1]]
// CHECK:           %[[T:.*]] = arith.select %[[EMPTY1]], %[[Y2]], %[[SUM]]
// CHECK:           arith.select %[[EMPTY2]], %[[Y1]], %[[T]]
// CHECK:         return %[[M]], %[[L]], %[[A]]
func.func @merge(%m1: tensor<8x?xf32>, %l1: tensor<8x?xf32>, %a1: tensor<8x?x64xf32>, %m2: tensor<8x?xf32>, %l2: tensor<8x?xf32>, %a2: tensor<8x?x64xf32>)
    -> (tensor<8x?xf32>, tensor<8x?xf32>, tensor<8x?x64xf32>) {
  %m, %l, %a = attn.merge_states %m1, %l1, %a1 with %m2, %l2, %a2 : tensor<8x?xf32>, tensor<8x?x64xf32>
  return %m, %l, %a : tensor<8x?xf32>, tensor<8x?xf32>, tensor<8x?x64xf32>
}

// -----

// A row without a key is 0, and lse -inf; lse only where it is asked for.
// CHECK-LABEL: func.func @finalize(
// CHECK:         linalg.generic
// CHECK:           %[[Q:.*]] = arith.divf
// CHECK:           %[[NONE:.*]] = arith.cmpf oeq
// CHECK:           %[[R:.*]] = arith.select %[[NONE]], %{{.*}}, %[[Q]]
// CHECK:           arith.truncf %[[R]] : f32 to f16
// CHECK-NOT:     math.log
// CHECK:         return
func.func @finalize(%m: tensor<8x?xf32>, %l: tensor<8x?xf32>, %a: tensor<8x?x64xf32>) -> tensor<8x?x64xf16> {
  %out = attn.finalize_state %m, %l, %a : (tensor<8x?xf32>, tensor<8x?xf32>, tensor<8x?x64xf32>) -> tensor<8x?x64xf16>
  return %out : tensor<8x?x64xf16>
}

// -----

// CHECK-LABEL: func.func @lse(
// CHECK:         math.log
// CHECK:         arith.select
func.func @lse(%m: tensor<?xf32>, %l: tensor<?xf32>, %a: tensor<?x8xf32>) -> tensor<?xf32> {
  %out, %lse = attn.finalize_state %m, %l, %a : (tensor<?xf32>, tensor<?xf32>, tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?xf32>)
  return %lse : tensor<?xf32>
}
