// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights: the scores once more, exp2(s - m) times the inverse of the final sum.
// The state is only read, except for its rows of weights.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.weigh(%[[S:.*]]: memref<46x4xf32>, %[[K:.*]]: memref<?x4xf32>, {{.*}}, %[[W:.*]]: memref<?x?xf32>)
// CHECK: vector.fma
// CHECK: arith.select {{.*}} : vector<4xi1>, vector<4xf32>
// CHECK: arith.divf
// CHECK: math.exp2
// CHECK: vector.store %{{.*}}, %[[W]]
// CHECK: call @f.weigh(
func.func private @f.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %b: index, %e: index, %m: memref<?x?xf32>, %n: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  attn.weigh %s0, %k rows %b to %e keys from %c0 lengths %b, %b scale 0.5 where causal(top_left) weights %m : memref<?x?xf32> {schedule = #s} : <8 x 4 x 6, f32>, memref<?x4xf32>
  return
}
