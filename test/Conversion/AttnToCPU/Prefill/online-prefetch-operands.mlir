// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In the first tile of keys, each block of 2 keys touches rows of the matrices
// behind `prefetch`, of both tiles of a pair of maps once, and no row that is not
// there.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize --cse | FileCheck %s
#p = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 2>
#n = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// 2 query blocks x 2 blocks are 4 turns for 8 queries: two rows in each, or, in a tile
// of fewer than 4 keys, four.
// CHECK-LABEL: func.func private @f.online_full(
// CHECK-SAME: %[[BEGIN:arg[0-9]+]]: index, %{{arg[0-9]+}}: index, %{{arg[0-9]+}}: index, %[[AHEAD:arg[0-9]+]]: memref<?x20xf32>)
// CHECK: memref.prefetch %arg1[{{.*}}], read, locality<2>, data : memref<?x4xf32>
// CHECK: memref.prefetch %arg2[{{.*}}], read, locality<2>, data : memref<?x6xf32>
// CHECK: %[[FEWER:.*]] = arith.cmpi slt, %{{.*}}, %c4
// CHECK: %[[PER_TURN:.*]] = arith.select %[[FEWER]], %c4, %c2
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %[[PER_TURN]]
// CHECK: %[[FIRST:.*]] = arith.cmpi slt, %[[ROW]], %c8
// CHECK: scf.if %[[FIRST]] {
// CHECK: %[[ROWS:.*]] = memref.dim %[[AHEAD]], %c0
// CHECK: %[[EXISTS:.*]] = arith.cmpi slt, %[[ROW]], %[[ROWS]]
// CHECK: scf.if %[[EXISTS]] {
// CHECK-NEXT: memref.prefetch %[[AHEAD]][%[[ROW]], %c0]
// CHECK-NEXT: memref.prefetch %[[AHEAD]][%[[ROW]], %c16]
// CHECK-NEXT: %[[SECOND:.*]] = arith.addi %[[ROW]], %c1
// CHECK-NEXT: memref.prefetch %[[AHEAD]][%[[SECOND]], %c0]
// CHECK-NEXT: memref.prefetch %[[AHEAD]][%[[SECOND]], %c16]
// CHECK-NEXT: scf.if %[[FEWER]] {
// CHECK-NEXT: %[[THIRD:.*]] = arith.addi %[[ROW]], %c2
// CHECK-NEXT: memref.prefetch %[[AHEAD]][%[[THIRD]], %c0]
// CHECK-NEXT: memref.prefetch %[[AHEAD]][%[[THIRD]], %c16]
// CHECK-NEXT: %[[FOURTH:.*]] = arith.addi %[[ROW]], %c3
// CHECK-NEXT: memref.prefetch %[[AHEAD]][%[[FOURTH]], %c0]
// CHECK-NEXT: memref.prefetch %[[AHEAD]][%[[FOURTH]], %c16]
// CHECK-NEXT: }
// CHECK-NOT: memref.prefetch %[[AHEAD]][
func.func private @f.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %v: memref<?x6xf32>, %b: index, %e: index, %next: memref<?x20xf32>) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #p} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  %s1 = attn.online %s0, %k, %v rows %b to %e keys from %c0 lengths %b, %b mode full prefetch %next : memref<?x20xf32> {schedule = #p} : <8 x 4 x 6, f32>, memref<?x4xf32>, memref<?x6xf32>
  return
}

// CHECK-LABEL: func.func private @maps.differential_online_full(
// CHECK-COUNT-8: memref.prefetch %{{.*}} : memref<?x20xf32>
// CHECK-NOT: : memref<?x20xf32>{{$}}
func.func private @maps.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %v: memref<?x6xf32>, %b: index, %e: index, %next: memref<?x20xf32>) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #p} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  %s1 = attn.init_state %q scale 0.5 {schedule = #p} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  %s2:2 = attn.online %s0, %k, %v rows %b to %e keys from %c0 lengths %b, %b mode full prefetch %next : memref<?x20xf32> second %s1, %k : !attn.state<8 x 4 x 6, f32>, memref<?x4xf32> {schedule = #p} : <8 x 4 x 6, f32>, memref<?x4xf32>, memref<?x6xf32>
  return
}

// A schedule without prefetches has none.
// CHECK-LABEL: func.func private @g.online_full(
// CHECK-NOT: memref.prefetch
// CHECK: func.func private @g.kernel(
func.func private @g.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %v: memref<?x6xf32>, %b: index, %e: index, %next: memref<?x20xf32>) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #n} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  %s1 = attn.online %s0, %k, %v rows %b to %e keys from %c0 lengths %b, %b mode full prefetch %next : memref<?x20xf32> {schedule = #n} : <8 x 4 x 6, f32>, memref<?x4xf32>, memref<?x6xf32>
  return
}
