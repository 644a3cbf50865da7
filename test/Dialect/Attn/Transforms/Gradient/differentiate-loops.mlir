// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops give each operand the cotangent times the slope of their body, summed over the dimensions that it lacks; what is looked up gets it
// where it was read.
// RUN: attn-opt %s --attn-differentiate --canonicalize --cse | FileCheck %s
#full = affine_map<(s, d) -> (s, d)>
#row = affine_map<(s, d) -> (d)>
#id = affine_map<(s, d) -> (s)>

// CHECK-LABEL: func @gain_gradient(
// CHECK-SAME:  %[[X:[^:]*]]: tensor<?x8xf32> {{[{][^}]*[}]}}, %[[G:[^:]*]]: tensor<8xf32>, %[[DY:[^:]*]]: tensor<?x8xf32>
// CHECK-DAG:   %[[DX:.*]] = linalg.generic {{.*}}["parallel", "parallel"]} ins(%[[X]], %[[G]], %[[DY]] :
// CHECK-DAG:   %[[DG:.*]] = linalg.generic {{.*}}["reduction", "parallel"]} ins(%[[X]], %[[G]], %[[DY]] :
// CHECK:       return %[[DX]], %[[DG]]
func.func @gain(%x: tensor<?x8xf32> {attn.gradient}, %g: tensor<8xf32> {attn.gradient}) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %y = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]} ins(%x, %g : tensor<?x8xf32>, tensor<8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: func @embed_gradient(
// CHECK-SAME:  %[[IDS:[^:]*]]: tensor<?xi64> {{[{][^}]*[}]}}, %{{[^:]*}}: tensor<9x8xf32>, %[[DY:[^:]*]]: tensor<?x8xf32>
// CHECK:       scf.for %[[S:.*]] = %{{.*}} iter_args
// CHECK:         scf.for %[[D:.*]] = %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}})
// CHECK:           %[[ROW:.*]] = arith.index_cast
// CHECK:           %[[OLD:.*]] = tensor.extract %[[SUM]][%[[ROW]], %[[D]]]
// CHECK:           tensor.insert %{{.*}} into %[[SUM]][%[[ROW]], %[[D]]]
func.func @embed(%ids: tensor<?xi64>, %table: tensor<9x8xf32> {attn.gradient}) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %ids, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %x = linalg.generic {indexing_maps = [#id, #full], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<?xi64>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%i: i64, %o: f32):
    %r = arith.index_cast %i : i64 to index
    %d = linalg.index 1 : index
    %t = tensor.extract %table[%r, %d] : tensor<9x8xf32>
    linalg.yield %t : f32
  } -> tensor<?x8xf32>
  return %x : tensor<?x8xf32>
}

// CHECK-LABEL: func @padded_gradient(
// CHECK:       %[[D:.*]] = tensor.extract_slice %{{.*}}[2] [5] [1]
// CHECK:       return %[[D]]
func.func @padded(%x: tensor<5xf32> {attn.gradient}) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %y = tensor.pad %x low[2] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<5xf32> to tensor<8xf32>
  return %y : tensor<8xf32>
}
