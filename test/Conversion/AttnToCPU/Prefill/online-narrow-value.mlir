// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values narrower than the lanes are read under a mask.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.online_edge(
// CHECK: vector.maskedload
// CHECK: arith.cmpf ord,
func.func private @f.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %v: memref<?x2xf32>, %b: index, %e: index, %sq: index, %sk: index) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 2, f32>
  %s1 = attn.online %s0, %k, %v rows %b to %e keys from %c0 lengths %sq, %sk where causal(top_left) mode edge {schedule = #s} : <8 x 4 x 2, f32>, memref<?x4xf32>, memref<?x2xf32>
  return
}
