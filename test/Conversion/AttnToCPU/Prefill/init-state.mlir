// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A state is one buffer: queries (query blocks * key_dim rows), context (query blocks *
// value_dim), weights, four statistics per query block, and room for a tile of keys and
// values of a narrower type; lanes are queries.
// Queries are transposed and scaled by scale * log2(e).
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.init_state(%[[S:.*]]: memref<46x4xf32>, %[[Q:.*]]: memref<?x4xf32>)
// CHECK-DAG: %[[FACTOR:.*]] = arith.constant dense<0.72134751> : vector<4xf32>
// CHECK-DAG: %[[INF:.*]] = arith.constant dense<0xFF800000> : vector<4xf32>
// CHECK: %[[ROW:.*]] = vector.load %[[Q]]
// CHECK-NEXT: arith.mulf %[[ROW]], %[[FACTOR]]
// CHECK: vector.shuffle
// CHECK: vector.store %{{.*}}, %[[S]]
// CHECK: vector.store %[[INF]], %[[S]]
// CHECK: func.func private @f.kernel
// CHECK: %[[STATE:.*]] = memref.alloc() {alignment = 64 : i64} : memref<46x4xf32>
// CHECK-NEXT: call @f.init_state(%[[STATE]], %arg0)
func.func private @f.kernel(%q: memref<?x4xf32>) {
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  return
}
