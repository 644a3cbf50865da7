// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A full tile for the 4 heads of a group: 2 keys by 4 queries, both as vectors of
// features, whose lanes are added by shuffles; softmax of [key][query]; context by
// FMA of a broadcast weight and a vector of a value. Nothing is excluded.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 2, query_tile = 8, key_tile = 16, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

// CHECK: func.func private @f.decode_online_full(%[[S:.*]]: memref<292xf32>, %[[K:.*]]: memref<?x4xf32>, %[[V:.*]]: memref<?x8xf32>, %[[B:[a-z0-9]+]]: index, %[[E:[a-z0-9]+]]: index,
// CHECK-NOT: cmpf ord
// CHECK-NOT: vector<1xindex>
// CHECK: %[[PER:.*]] = arith.subi %[[E]], %[[B]]
// CHECK: arith.muli %[[PER]], %c4
// CHECK: %[[X:.*]] = vector.load %[[K]][%{{.*}}, %c0] : memref<?x4xf32>, vector<4xf32>
// CHECK: %[[Y:.*]] = vector.load %[[K]][%{{.*}}, %c0] : memref<?x4xf32>, vector<4xf32>
// CHECK: %[[Q:.*]] = vector.load %{{.*}} : memref<2x16xf32{{.*}}>, vector<4xf32>
// CHECK: vector.fma %[[X]], %[[Q]], %{{.*}} : vector<4xf32>
// CHECK: vector.fma %[[Y]], %[[Q]], %{{.*}} : vector<4xf32>
// CHECK: vector.shuffle {{.*}} [0, 2, 4, 6]
// CHECK: vector.shuffle {{.*}} [1, 3, 5, 7]
// CHECK: math.exp2
// CHECK: %[[P0:.*]] = vector.load %[[V]][%[[J:.*]], %c0] : memref<?x8xf32>, vector<4xf32>
// CHECK: %[[P1:.*]] = vector.load %[[V]][%[[J]], %c4] : memref<?x8xf32>, vector<4xf32>
// CHECK: %[[W:.*]] = vector.broadcast %{{.*}} : f32 to vector<4xf32>
// CHECK: vector.fma %[[W]], %[[P0]], %{{.*}} : vector<4xf32>
// CHECK: vector.fma %[[W]], %[[P1]], %{{.*}} : vector<4xf32>
// CHECK-NOT: remui
// CHECK-NOT: vector.reduction
// CHECK: func.func private @f.kernel
func.func private @f.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %sq: index, %first: index, %skv: index) {
  %c0 = arith.constant 0 : index
  %s = attn.init_state %q scale 0.5 {schedule = #d} : memref<?x4xf32> -> !attn.state<8 x 4 x 8, f32, decode>
  %n = attn.online %s, %k, %v rows %c0 to %sq keys from %first lengths %sq, %skv where causal(bottom_right) mode full {heads = 4 : i64, schedule = #d}
      : !attn.state<8 x 4 x 8, f32, decode>, memref<?x4xf32>, memref<?x8xf32>
  return
}
