// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One row and panels whose rows are cache lines: the row has all room of the
// copied inputs, so that one step takes each panel from end to end, where two
// rows come in steps. Nothing is fetched in advance: the processor does.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 8, rows = 6, vectors = 2, query_tile = 96, key_tile = 1026, unroll = 1, prefetch = 1>

// CHECK-LABEL: func.func private @one.project(
// CHECK: memref.reinterpret_cast
// CHECK-NOT: memref.prefetch
// CHECK: scf.for %{{.*}} = %c0 to %c2048 step %c1
// CHECK: vector.fma
// CHECK: func.func private @one.kernel
func.func private @one.kernel(%x: memref<1x2048xf32>, %w: memref<2x2048x16xf32>, %o: memref<1x32xf32>) {
  attn.project_tile %x, %w outs(%o : memref<1x32xf32>) {attn.few_rows, schedule = #s} : memref<1x2048xf32>, memref<2x2048x16xf32>
  return
}

// CHECK-LABEL: func.func private @two.project(
// CHECK: scf.for %{{.*}} = %c0 to %c2048 step %c1024
// CHECK: memref.prefetch
// CHECK: vector.fma
func.func private @two.kernel(%x: memref<2x2048xf32>, %w: memref<2x2048x16xf32>, %o: memref<2x32xf32>) {
  attn.project_tile %x, %w outs(%o : memref<2x32xf32>) {attn.few_rows, schedule = #s} : memref<2x2048xf32>, memref<2x2048x16xf32>
  return
}
