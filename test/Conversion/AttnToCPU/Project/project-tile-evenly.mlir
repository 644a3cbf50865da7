// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With `prefetch = 1` blocks of rows fetch the next panel of f32 evenly: a line
// in each turn up to four blocks, in every second turn from five on. One block
// fetches rows 18 KB ahead.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 2, query_tile = 64, key_tile = 1024, unroll = 2, prefetch = 1>

// CHECK-LABEL: func.func private @any.project(
// CHECK: memref.prefetch %arg0
// CHECK: arith.cmpi slt, %[[ROWS:.*]], %c4 : index
// CHECK: scf.for %[[TURN:.*]] = %c0 to %c64 step %c2 iter_args
// CHECK: %[[AHEAD:.*]] = arith.addi %[[TURN]], %c576
// CHECK: memref.prefetch %[[PANEL:.*]][%[[AHEAD]], %c0], read
// CHECK: vector.load %[[PANEL]][%[[TURN]], %c0]
// CHECK: arith.cmpi slt, %[[ROWS]], %c10 : index
// CHECK: scf.for %[[TURN:.*]] = %c0 to %c64 step %c2 iter_args
// CHECK: %[[LINE:.*]] = arith.addi %{{.*}}, %[[TURN]]
// CHECK: %[[COLUMN:.*]] = arith.muli %[[LINE]], %c4
// CHECK: memref.prefetch %[[NEXT:.*]][%c0, %[[COLUMN]]], read
// CHECK: memref.prefetch %[[NEXT]][%c0, %{{.*}}], read
// CHECK: } else {
// CHECK: scf.for %[[TURN:.*]] = %c0 to %c64 step %c2 iter_args
// CHECK: %[[HALF:.*]] = arith.divui %[[TURN]], %c2
// CHECK: %[[LINE:.*]] = arith.addi %{{.*}}, %[[HALF]]
// CHECK: memref.prefetch %[[NEXT]][%c0,
// CHECK-NOT: memref.prefetch %[[NEXT]]
// CHECK: scf.yield

// The last panel, of which columns lack, has no next one.
// CHECK: scf.if
// CHECK-NOT: memref.prefetch %{{.*}}, read, locality<2>
// CHECK-LABEL: func.func private @any.kernel
func.func private @any.kernel(%x: memref<?x64xf32>, %w: memref<?x64x8xf32>, %o: memref<?x?xf32>) {
  attn.project_tile %x, %w outs(%o : memref<?x?xf32>) {schedule = #s} : memref<?x64xf32>, memref<?x64x8xf32>
  return
}

// Known rows need one of the three.
// CHECK-LABEL: func.func private @six.project(
// CHECK-NOT: arith.cmpi
// CHECK: scf.for %[[TURN:.*]] = %c0 to %c64 step %c2 iter_args
// CHECK-COUNT-2: memref.prefetch %[[NEXT:.*]][%c0, %{{.*}}], read, locality<2>
// CHECK: scf.yield
// CHECK-LABEL: func.func private @six.kernel
func.func private @six.kernel(%x: memref<6x64xf32>, %w: memref<?x64x8xf32>, %o: memref<6x?xf32>) {
  attn.project_tile %x, %w outs(%o : memref<6x?xf32>) {schedule = #s} : memref<6x64xf32>, memref<?x64x8xf32>
  return
}
