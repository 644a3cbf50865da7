// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys and values of f16 are converted as vectors where they are read.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 2, query_tile = 8, key_tile = 16, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

// CHECK: func.func private @f.decode_online_full(%{{.*}}: memref<292xf32>, %[[K:.*]]: memref<?x4xf16>, %[[V:.*]]: memref<?x8xf16>,
// CHECK: %[[X:.*]] = vector.load %[[K]]{{.*}} : memref<?x4xf16>, vector<4xf16>
// CHECK: %[[XF:.*]] = arith.extf %[[X]] : vector<4xf16> to vector<4xf32>
// CHECK: vector.fma %[[XF]]
// CHECK: %[[Y:.*]] = vector.load %[[V]]{{.*}} : memref<?x8xf16>, vector<4xf16>
// CHECK: %[[YF:.*]] = arith.extf %[[Y]] : vector<4xf16> to vector<4xf32>
// CHECK: vector.fma %{{.*}}, %[[YF]],
// CHECK-NOT: extf {{.*}} : f16 to f32
// CHECK: func.func private @f.kernel
func.func private @f.kernel(%q: memref<?x4xf16>, %k: memref<?x4xf16>, %v: memref<?x8xf16>, %sq: index, %first: index, %skv: index) {
  %c0 = arith.constant 0 : index
  %s = attn.init_state %q scale 0.5 {schedule = #d} : memref<?x4xf16> -> !attn.state<8 x 4 x 8, f32, decode>
  %n = attn.online %s, %k, %v rows %c0 to %sq keys from %first lengths %sq, %skv mode full {heads = 2 : i64, schedule = #d}
      : !attn.state<8 x 4 x 8, f32, decode>, memref<?x4xf16>, memref<?x8xf16>
  return
}
