// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights, scores, and both with bias and mask.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: func @weights
// CHECK: attn.weigh %{{.*}}, %{{.*}} rows %{{.*}} to %{{.*}} keys from %{{.*}} lengths %{{.*}}, %{{.*}} scale 5.000000e-01 weights %{{.*}} : memref<?x?xf32> {schedule = #attn.cpu_schedule<{{.*}}>} : <16 x 4 x 8, f32>, memref<?x4xf32>
func.func @weights(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %i: index, %w: memref<?x?xf32>) {
  attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 weights %w : memref<?x?xf32> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>
  return
}

// CHECK-LABEL: func @both
// CHECK: attn.weigh {{.*}} scale 5.000000e-01 bias %{{.*}} : tensor<?x?xf32> where causal(top_left) weights %{{.*}} : tensor<?x?xf32> scores %{{.*}} : tensor<?x?xf32>
// CHECK-SAME: stage = #attn<scores_stage biased>
// CHECK-SAME: : <16 x 4 x 8, f32>, tensor<?x4xf32> -> tensor<?x?xf32>, tensor<?x?xf32>
func.func @both(%s: !attn.state<16 x 4 x 8, f32>, %k: tensor<?x4xf32>, %i: index, %w: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %a, %b = attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 bias %w : tensor<?x?xf32>
      where causal(top_left) weights %w : tensor<?x?xf32> scores %w : tensor<?x?xf32>
      {schedule = #s, stage = #attn<scores_stage biased>}
      : !attn.state<16 x 4 x 8, f32>, tensor<?x4xf32> -> tensor<?x?xf32>, tensor<?x?xf32>
  return %a, %b : tensor<?x?xf32>, tensor<?x?xf32>
}
