// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of a narrower type are converted 8 vectors at a time in a loop, so that
// the code does not grow with the head dim, then what is left; the last vector
// is moved back.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.online_full(%{{.*}}: memref<238x4xf32>, %{{.*}}: memref<?x4xf16>, %[[V:.*]]: memref<?x70xf16>,
// CHECK: %[[COUNT:.*]] = memref.dim %[[V]], %c0
// CHECK: scf.for %[[R:.*]] = %c0 to %[[COUNT]]
// CHECK: scf.for %[[A:.*]] = %c0 to %c64 step %c32
// CHECK: vector.load %[[V]][%[[R]], %[[A]]]
// CHECK-COUNT-7: vector.load %[[V]][%[[R]], %{{[0-9]+}}]
// CHECK-NOT: vector.load
// CHECK: vector.load %[[V]][%[[R]], %c64]
// CHECK: vector.load %[[V]][%[[R]], %c66]
// CHECK-NOT: %[[V]]
// CHECK: func.func private @f.kernel
func.func private @f.kernel(%q: memref<?x4xf16>, %k: memref<?x4xf16>, %v: memref<?x70xf16>, %b: index, %e: index, %sq: index, %sk: index) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf16> -> <8 x 4 x 70, f32>
  %s1 = attn.online %s0, %k, %v rows %b to %e keys from %c0 lengths %sq, %sk mode full {schedule = #s} : <8 x 4 x 70, f32>, memref<?x4xf16>, memref<?x70xf16>
  return
}
