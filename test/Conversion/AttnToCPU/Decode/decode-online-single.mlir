// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A state of one row: products key by key, which are added for 4 keys at a time, and
// the context of up to 8 vectors in one loop.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 2, query_tile = 1, key_tile = 16, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

// CHECK: func.func private @f.decode_online_full(%{{.*}}: memref<{{.*}}>, %[[K:.*]]: memref<?x4xf32>, %[[V:.*]]: memref<?x8xf32>,
// CHECK: scf.for %{{.*}} step %c4
// CHECK: scf.for
// CHECK: %[[ROW:.*]] = vector.load %[[K]]
// CHECK: vector.fma %[[ROW]], %{{.*}}, %{{.*}} : vector<4xf32>
// CHECK-NOT: vector.fma
// CHECK: vector.store %{{.*}} : memref<{{.*}}>, vector<4xf32>
// CHECK-COUNT-4: vector.load
// CHECK-COUNT-6: vector.shuffle
// CHECK-NOT: vector.shuffle
// CHECK: vector.store %{{.*}} : memref<{{.*}}>, vector<4xf32>
// CHECK: vector<1xf32>
// CHECK: math.exp2
// CHECK: scf.for {{.*}} -> (vector<4xf32>, vector<4xf32>)
// CHECK: return
func.func private @f.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %sq: index, %first: index, %skv: index) {
  %c0 = arith.constant 0 : index
  %s = attn.init_state %q scale 0.5 {schedule = #d} : memref<?x4xf32> -> !attn.state<1 x 4 x 8, f32, decode>
  %n = attn.online %s, %k, %v rows %c0 to %sq keys from %first lengths %sq, %skv mode full {schedule = #d}
      : !attn.state<1 x 4 x 8, f32, decode>, memref<?x4xf32>, memref<?x8xf32>
  return
}
