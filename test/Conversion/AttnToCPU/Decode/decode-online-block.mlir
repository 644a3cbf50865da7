// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A block of 8 queries: each of 2 keys is loaded once for all of them, and the 16
// sums of lanes are added together; each value is loaded once for 8 weights. Keys
// prefetch those of the next tile, and so do values.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize --cse | FileCheck %s
#d = #attn.cpu_schedule<lanes = 16, rows = 2, vectors = 1, query_tile = 8, key_tile = 16, unroll = 1, prefetch = 2, kind = decode, split_keys = 64, block = 8>

// CHECK: func.func private @f.decode_online_full(%{{.*}}: memref<{{[0-9]+}}xf32>, %[[K:.*]]: memref<?x32xf32>, %[[V:.*]]: memref<?x16xf32>, %{{.*}}: index
// CHECK: memref.prefetch %[[K]]
// CHECK-NOT: memref.prefetch %[[V]]
// CHECK: scf.for
// CHECK-COUNT-2: vector.load %[[K]]
// CHECK-NOT: vector.load %[[K]]
// CHECK: vector.load %{{.*}} : memref<1x256xf32, strided<[256, 1]>>, vector<16xf32>
// CHECK-COUNT-16: vector.fma
// CHECK: scf.yield
// CHECK-COUNT-15: arith.addf %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK: vector.store %{{.*}} : memref<1x288xf32, {{.*}}>, vector<16xf32>
// CHECK: math.exp2
// CHECK: memref.prefetch %[[V]]
// CHECK: vector.load %[[V]]
// CHECK-NOT: vector.load %[[V]]
// CHECK-COUNT-8: vector.fma
// CHECK-NOT: memref.prefetch %[[K]]
// CHECK: func.func private @f.kernel
func.func private @f.kernel(%q: memref<?x32xf32>, %k: memref<?x32xf32>, %v: memref<?x16xf32>, %sq: index, %first: index, %skv: index) {
  %c0 = arith.constant 0 : index
  %s = attn.init_state %q scale 0.5 {schedule = #d} : memref<?x32xf32> -> !attn.state<8 x 32 x 16, f32, decode>
  %n = attn.online %s, %k, %v rows %c0 to %sq keys from %first lengths %sq, %skv mode full {heads = 8 : i64, schedule = #d}
      : !attn.state<8 x 32 x 16, f32, decode>, memref<?x32xf32>, memref<?x16xf32>
  return
}
