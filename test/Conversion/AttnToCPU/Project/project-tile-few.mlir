// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A weight in place: few of its rows at a time, of which the same columns of the
// next are prefetched; a single row is not repeated to fill a block. The last
// panel moves back, so nothing is masked.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 4, vectors = 1, query_tile = 8, key_tile = 256, unroll = 1, prefetch = 0>

// CHECK-LABEL: func.func private @one.project(
// CHECK-NOT: vector.maskedload
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c8
// CHECK: arith.minsi %{{.*}}, %c2
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c1 iter_args(%{{.*}} = %{{.*}}) -> (vector<4xf32>)
// CHECK: memref.prefetch %arg1
// CHECK: vector.load %arg1
// CHECK-NOT: vector.maskedload
// CHECK: func.func private @one.kernel
func.func private @one.kernel(%x: memref<1x64xf32>, %w: memref<64x6xf32>, %o: memref<1x6xf32>) {
  attn.project_tile %x, %w outs(%o : memref<1x6xf32>) {schedule = #s} : memref<1x64xf32>, memref<64x6xf32>
  return
}

// CHECK-LABEL: func.func private @two.project(
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c1 iter_args(%{{.*}}, %{{.*}}) -> (vector<4xf32>, vector<4xf32>)
// CHECK: vector.load %arg1
// CHECK: func.func private @two.kernel
func.func private @two.kernel(%x: memref<2x64xf32>, %w: memref<64x6xf32>, %o: memref<2x6xf32>) {
  attn.project_tile %x, %w outs(%o : memref<2x6xf32>) {schedule = #s} : memref<2x64xf32>, memref<64x6xf32>
  return
}

// More than a block: more rows of the weight at a time, which are prefetched
// from end to end; the second block finds the panel in the cache.
// CHECK-LABEL: func.func private @five.project(
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c1 iter_args({{.*}}) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>)
// CHECK: memref.prefetch %arg1
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c1 iter_args(%{{.*}} = %{{.*}}) -> (vector<4xf32>)
// CHECK: func.func private @five.kernel
func.func private @five.kernel(%x: memref<5x64xf32>, %w: memref<64x6xf32>, %o: memref<5x6xf32>) {
  attn.project_tile %x, %w outs(%o : memref<5x6xf32>) {schedule = #s} : memref<5x64xf32>, memref<64x6xf32>
  return
}
