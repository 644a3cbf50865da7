// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a predicate computes of batch entry, head and captured tensors alone is computed once per item and becomes
// an operand; a table that it reads per pair stays whole. Outside of a table lies its nearest element.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @width_per_head(
// CHECK-SAME: %[[W:[^ ,]*]]: tensor<3xi32>)
// CHECK: scf.forall (%{{[^,]*}}, %[[H:[^,]*]], %{{[^,]*}}) in
// CHECK: %[[BELOW:.*]] = arith.minsi %[[H]], %c2 : index
// CHECK: %[[INSIDE:.*]] = arith.maxsi %[[BELOW]], %c0 : index
// CHECK: %[[N:.*]] = tensor.extract %[[W]][%[[INSIDE]]] : tensor<3xi32>
// CHECK: %[[LIMIT:.*]] = arith.index_cast %[[N]] : i32 to index
// CHECK: where predicate(#attn.program<inputs = [index],<"arith.subi", [2, 3], {{.*}}, index>, <"arith.cmpi", [5, 4], {predicate = 6 : i64}, i1>>, %[[LIMIT]] : index) mode edge
func.func @width_per_head(%q: tensor<2x3x?x4xf32>, %w: tensor<3xi32>) -> tensor<2x3x?x4xf32> {
  %r = attn.sdpa %q, %q, %q scale 0.5 where predicate(#attn.program<inputs = [tensor<3xi32>],
      <"tensor.extract", [4, 1], {}, i32>, <"arith.index_cast", [5], {}, index>, <"arith.subi", [2, 3], {}, index>,
      <"arith.cmpi", [7, 6], {predicate = 6 : i64}, i1>>, %w : tensor<3xi32>) {schedule = #s} : (tensor<2x3x?x4xf32>, tensor<2x3x?x4xf32>, tensor<2x3x?x4xf32>) -> tensor<2x3x?x4xf32>
  return %r : tensor<2x3x?x4xf32>
}

// CHECK-LABEL: @table_per_head(
// CHECK-SAME: %[[T:[^ ,]*]]: tensor<3x9xi32>)
// CHECK: scf.forall (%{{[^,]*}}, %[[H:[^,]*]], %{{[^,]*}}) in
// CHECK: where predicate(#attn.program<inputs = [tensor<3x9xi32>, index],<"tensor.extract", [4, 5, 2], {}, i32>, <"tensor.extract", [4, 5, 3], {}, i32>, <"arith.cmpi", [6, 7], {predicate = 0 : i64}, i1>>, %[[T]] : tensor<3x9xi32>, %[[H]] : index) mode edge
func.func @table_per_head(%q: tensor<2x3x?x4xf32>, %t: tensor<3x9xi32>) -> tensor<2x3x?x4xf32> {
  %r = attn.sdpa %q, %q, %q scale 0.5 where predicate(#attn.program<inputs = [tensor<3x9xi32>],
      <"tensor.extract", [4, 1, 2], {}, i32>, <"tensor.extract", [4, 1, 3], {}, i32>,
      <"arith.cmpi", [5, 6], {predicate = 0 : i64}, i1>>, %t : tensor<3x9xi32>) {schedule = #s} : (tensor<2x3x?x4xf32>, tensor<2x3x?x4xf32>, tensor<2x3x?x4xf32>) -> tensor<2x3x?x4xf32>
  return %r : tensor<2x3x?x4xf32>
}

// A predicate of the head alone: all pairs or none.
// CHECK-LABEL: @head_only(
// CHECK: %[[ANSWER:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : index
// CHECK: %[[N:.*]] = arith.index_castui %[[ANSWER]] : i1 to index
// CHECK: where predicate(#attn.program<inputs = [i1],<"arith.andi", [4, 4], {}, i1>>, %[[N]] : index) mode edge
func.func @head_only(%q: tensor<2x3x?x4xf32>) -> tensor<2x3x?x4xf32> {
  %r = attn.sdpa %q, %q, %q scale 0.5 where predicate(#attn.program<<"arith.cmpi", [1, 0], {predicate = 0 : i64}, i1>>) {schedule = #s} : (tensor<2x3x?x4xf32>, tensor<2x3x?x4xf32>, tensor<2x3x?x4xf32>) -> tensor<2x3x?x4xf32>
  return %r : tensor<2x3x?x4xf32>
}
