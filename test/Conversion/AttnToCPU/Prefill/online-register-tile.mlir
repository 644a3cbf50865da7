// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The register tile has rows * vectors accumulators, carried by the loop over the
// head dimension, and unroll steps per turn.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 8, rows = 3, vectors = 2, query_tile = 16, key_tile = 6, unroll = 2, prefetch = 0>

// CHECK: func.func private @f.online_full(
// CHECK: %{{.*}}:6 = scf.for %{{.*}} = %c0 to %c4 step %c2 iter_args(
// CHECK-COUNT-12: vector.fma
// CHECK: scf.yield
func.func private @f.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %v: memref<?x6xf32>, %b: index, %e: index) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <16 x 4 x 6, f32>
  %s1 = attn.online %s0, %k, %v rows %b to %e keys from %c0 lengths %b, %b mode full {schedule = #s} : <16 x 4 x 6, f32>, memref<?x4xf32>, memref<?x6xf32>
  return
}
