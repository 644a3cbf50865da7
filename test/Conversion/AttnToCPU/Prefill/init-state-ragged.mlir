// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows that a tile does not have repeat its last row: nothing is read behind it.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.init_state(
// CHECK: %[[N:.*]] = memref.dim %arg1, %c0
// CHECK: %[[LAST:.*]] = arith.subi %[[N]], %c1
// CHECK-COUNT-4: arith.minsi %{{.*}}, %[[LAST]]
// CHECK: vector.load %arg1
func.func private @f.kernel(%q: memref<?x4xf32>) {
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  return
}
