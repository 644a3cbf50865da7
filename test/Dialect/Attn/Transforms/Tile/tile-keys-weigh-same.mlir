// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights and scores that begin as the same empty tensor stay two matrices.
// RUN: attn-opt %s --attn-tile-keys | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 2, query_tile = 8, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK: %[[W:.*]] = tensor.extract_slice %[[A]]
// CHECK: %[[S:.*]] = tensor.extract_slice %[[B]]
// CHECK: attn.weigh {{.*}} weights %[[W]] : {{.*}} scores %[[S]] :
func.func @f(%state: !attn.state<8 x 8 x 8, f32>, %k: tensor<20x8xf32>, %i: index, %n: index) -> (tensor<8x20xf32>, tensor<8x20xf32>) {
  %empty = tensor.empty() : tensor<8x20xf32>
  %c20 = arith.constant 20 : index
  %w:2 = attn.weigh %state, %k rows %i to %n keys from %i lengths %n, %c20 scale 0.5 weights %empty : tensor<8x20xf32> scores %empty : tensor<8x20xf32> {schedule = #s, stage = #attn<scores_stage scaled>}
      : !attn.state<8 x 8 x 8, f32>, tensor<20x8xf32> -> tensor<8x20xf32>, tensor<8x20xf32>
  return %w#0, %w#1 : tensor<8x20xf32>, tensor<8x20xf32>
}
