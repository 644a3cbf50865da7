// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights and scores in one op go to their own buffers.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.weigh({{.*}}, %[[W:.*]]: memref<?x?xf32>, %[[X:.*]]: memref<?x?xf32>)
// CHECK: math.exp2
// CHECK: vector.store %{{.*}}, %[[W]]
// CHECK: vector.store %{{.*}}, %[[X]]
// CHECK: call @f.weigh({{.*}}, %arg4, %arg5)
func.func private @f.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %b: index, %e: index, %m: memref<?x?xf32>, %n: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  attn.weigh %s0, %k rows %b to %e keys from %c0 lengths %b, %b scale 0.5 where causal(top_left) weights %m : memref<?x?xf32> scores %n : memref<?x?xf32> {schedule = #s, stage = #attn<scores_stage scaled>} : <8 x 4 x 6, f32>, memref<?x4xf32>
  return
}
