// RUN: attn-opt %s -canonicalize | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Unused graph ops vanish; a tile op that writes a memref stays.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: func @graph
// CHECK-NEXT: return
func.func @graph(%q: tensor<5x8xf32>) {
  %s = attn.scores %q, %q : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x5xf32>
  %m = attn.mask %s where causal(top_left) : tensor<5x5xf32>
  %w = attn.softmax %m : tensor<5x5xf32>
  %o = attn.context %w, %q : (tensor<5x5xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %f = attn.sdpa %q, %q, %q scale 0.5 : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return
}

// CHECK-LABEL: func @memrefs
// CHECK: attn.finalize
// CHECK: attn.weigh
// CHECK: attn.project_tile
func.func @memrefs(%s: !attn.state<16 x 4 x 4, f32>, %k: memref<4x4xf32>, %o: memref<4x4xf32>, %i: index) {
  attn.finalize %s outs(%o : memref<4x4xf32>) {schedule = #s} : !attn.state<16 x 4 x 4, f32>
  attn.weigh %s, %k rows %i to %i keys from %i lengths %i, %i scale 0.5 weights %o : memref<4x4xf32> {schedule = #s} : !attn.state<16 x 4 x 4, f32>, memref<4x4xf32>
  attn.project_tile %k, %k outs(%o : memref<4x4xf32>) {schedule = #s} : memref<4x4xf32>, memref<4x4xf32>
  return
}

// CHECK-LABEL: func @tensors
// CHECK-NEXT: return
func.func @tensors(%s: !attn.state<16 x 4 x 4, f32>, %o: tensor<4x4xf32>) {
  %r = attn.finalize %s outs(%o : tensor<4x4xf32>) {schedule = #s} : !attn.state<16 x 4 x 4, f32> -> tensor<4x4xf32>
  return
}
