// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A schedule with prefetch touches the values of this tile and the keys behind
// it, spread over blocks of all query blocks that there are; one without does not.
// Blocks touch a row each, or, where there are fewer than 2 query blocks, two.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>
#p = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 2>

// CHECK-LABEL: func.func private @f.online_full(
// CHECK: %[[LAST:.*]] = arith.addi %{{.*}}, %c3 overflow<nsw>
// CHECK: %[[THERE:.*]] = arith.divui %[[LAST]], %c4
// CHECK: %[[KEYS:.*]] = memref.dim %arg1, %c0
// CHECK: %[[PANELS:.*]] = arith.maxsi %[[THERE]], %c1
// CHECK: %[[QUOTIENT:.*]] = arith.divui %c1048576, %[[PANELS]]
// CHECK: %[[INVERSE:.*]] = arith.addi %[[QUOTIENT]], %c1
// CHECK: %[[MOST:.*]] = arith.addi %[[PANELS]], %c1
// CHECK: %[[ROWS:.*]] = arith.divui %[[MOST]], %[[PANELS]]
// CHECK: scf.for %[[PANEL:.*]] = %c0
// CHECK: scf.for %[[BLOCK:.*]] = %c0
// CHECK: %[[BEFORE:.*]] = arith.muli %[[PANEL]], %[[KEYS]]
// CHECK: %[[ALL:.*]] = arith.addi %[[BEFORE]], %[[BLOCK]]
// CHECK: %[[SHARE:.*]] = arith.muli %[[ALL]], %[[INVERSE]]
// CHECK: %[[ROW:.*]] = arith.divui %[[SHARE]], %c1048576
// CHECK: %[[BEHIND:.*]] = arith.addi %[[ROW]], %[[KEYS]]
// CHECK: memref.prefetch %arg1[%[[BEHIND]], %c0], read, locality<2>, data : memref<?x4xf32>
// CHECK: memref.prefetch %arg2[%[[ROW]], %c0], read, locality<2>, data : memref<?x6xf32>
// CHECK: scf.for %[[MORE:.*]] = %c1 to %[[ROWS]] step %c1
// CHECK: %[[NEXT:.*]] = arith.addi %[[ROW]], %[[MORE]]
// CHECK: %[[NEXT_KEY:.*]] = arith.addi %[[NEXT]], %[[KEYS]]
// CHECK: memref.prefetch %arg1[%[[NEXT_KEY]], %c0]
// CHECK: memref.prefetch %arg2[%[[NEXT]], %c0]
// CHECK-LABEL: func.func private @f.online_full_1(
// CHECK-NOT: memref.prefetch
func.func private @f.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %v: memref<?x6xf32>, %b: index, %e: index) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #p} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  %s1 = attn.online %s0, %k, %v rows %b to %e keys from %c0 lengths %b, %b mode full {schedule = #p} : <8 x 4 x 6, f32>, memref<?x4xf32>, memref<?x6xf32>
  %s2 = attn.online %s1, %k, %v rows %b to %e keys from %c0 lengths %b, %b mode full {schedule = #s} : <8 x 4 x 6, f32>, memref<?x4xf32>, memref<?x6xf32>
  return
}
