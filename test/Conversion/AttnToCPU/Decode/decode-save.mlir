// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A saved state: acc as vectors, then m and l as they are. The 6 features are two
// vectors of which the second overlaps the first.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 2, query_tile = 8, key_tile = 16, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

// CHECK: func.func private @f.decode_save_state(%[[S:.*]]: memref<{{.*}}xf32>, %[[P:.*]]: memref<?x8xf32>)
// CHECK: %[[CONTEXT:.*]] = memref.reinterpret_cast %[[S]] to {{.*}} sizes: [8, 8]
// CHECK: %[[STATS:.*]] = memref.reinterpret_cast %[[S]] to {{.*}} sizes: [3, 12]
// CHECK: scf.for %[[R:.*]] =
// CHECK: %[[A:.*]] = vector.load %[[CONTEXT]][%[[R]], %c0]
// CHECK: vector.store %[[A]], %[[P]][%[[R]], %c0]
// CHECK: %[[B:.*]] = vector.load %[[CONTEXT]][%[[R]], %c4]
// CHECK: vector.store %[[B]], %[[P]][%[[R]], %c2]
// CHECK: %[[M:.*]] = memref.load %[[STATS]][%c0, %[[R]]]
// CHECK: memref.store %[[M]], %[[P]][%[[R]], %c6]
// CHECK: %[[L:.*]] = memref.load %[[STATS]][%c1, %[[R]]]
// CHECK: memref.store %[[L]], %[[P]][%[[R]], %c7]
func.func private @f.kernel(%q: memref<?x4xf32>, %p: memref<?x8xf32>) {
  %s = attn.init_state %q scale 0.5 {schedule = #d} : memref<?x4xf32> -> !attn.state<8 x 4 x 6, f32, decode>
  attn.save_state %s outs(%p : memref<?x8xf32>) {schedule = #d} : !attn.state<8 x 4 x 6, f32, decode>
  return
}
