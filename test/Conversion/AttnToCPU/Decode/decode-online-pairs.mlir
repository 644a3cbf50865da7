// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of pairs: keys are read as they lie, their sums times the factor are
// scores; weights of neighbouring keys are rounded and put side by side; and so
// are two rows of values, 128 bits at a time. The last of an odd number of keys is there twice.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize --cse | FileCheck %s
#d = #attn.cpu_schedule<lanes = 8, rows = 2, vectors = 2, query_tile = 8, key_tile = 16, unroll = 1, prefetch = 0, kind = decode, split_keys = 64, products = dot>

// Queries keep their bits, but for the sign.
// CHECK-LABEL: func.func private @f.decode_init_state(
// CHECK: vector.store %{{.*}}, %{{.*}} : memref<1x8xf32, strided<[8, 1], offset: {{[0-9]+}}>>, vector<8xf32>
// CHECK: %[[Q:.*]] = vector.load %arg1[%{{.*}}, %c0] : memref<?x16xbf16>, vector<16xbf16>
// CHECK: vector.bitcast %[[Q]] : vector<16xbf16> to vector<8xf32>
// CHECK: arith.xori
// CHECK-LABEL: func.func private @f.decode_online_full(
// CHECK-SAME: memref<?x16xbf16>, %[[V:[a-z0-9]+]]: memref<?x32xbf16>
// CHECK: vector.load %{{.*}} : memref<?x16xbf16>, vector<16xbf16>
// CHECK: vector.contract
// CHECK: %[[FACTOR:.*]] = vector.load %{{.*}} : memref<1x8xf32, {{.*}}>, vector<8xf32>
// CHECK: %[[SCORE:.*]] = arith.mulf %{{.*}}, %[[FACTOR]] : vector<8xf32>
// CHECK: vector.store %[[SCORE]]
// CHECK: math.exp2 %{{.*}} fastmath<afn>
// CHECK: %[[W:.*]] = arith.truncf %{{.*}} : vector<8xf32> to vector<8xbf16>
// CHECK: %[[TWO:.*]] = vector.shuffle %[[W]], %[[W]] [0, 4, 1, 5, 2, 6, 3, 7] : vector<8xbf16>, vector<8xbf16>
// CHECK: %[[P:.*]] = vector.bitcast %[[TWO]] : vector<8xbf16> to vector<4xf32>
// CHECK: vector.store %[[P]]
// CHECK: %[[EVEN:.*]] = vector.load %[[V]][%{{[0-9]+}}, %{{.*}}] : memref<?x32xbf16>, vector<16xbf16>
// CHECK: %[[ODD:.*]] = vector.load %[[V]][%{{[0-9]+}}, %{{.*}}] : memref<?x32xbf16>, vector<16xbf16>
// CHECK: vector.shuffle %[[EVEN]], %[[ODD]] [0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27]
// CHECK: vector.shuffle %[[EVEN]], %[[ODD]] [4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31]
// CHECK: vector.contract
// CHECK: %[[LAST:.*]] = vector.load %[[V]][%{{[0-9]+}}, %{{.*}}] : memref<?x32xbf16>, vector<16xbf16>
// CHECK: vector.shuffle %[[LAST]], %[[LAST]] [0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27]
func.func private @f.kernel(%q: memref<?x16xbf16>, %k: memref<?x16xbf16>, %v: memref<?x32xbf16>, %sq: index, %first: index, %skv: index) {
  %c0 = arith.constant 0 : index
  %s = attn.init_state %q scale -0.5 {schedule = #d} : memref<?x16xbf16> -> !attn.state<8 x 16 x 32, f32, decode>
  %n = attn.online %s, %k, %v rows %c0 to %sq keys from %first lengths %sq, %skv mode full {heads = 2 : i64, schedule = #d}
      : !attn.state<8 x 16 x 32, f32, decode>, memref<?x16xbf16>, memref<?x32xbf16>
  return
}
