// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An edge tile: scores are computed as in a full one, then bias and mask are looked at
// pair by pair. Row r is query r mod Sq. Values that are not finite take a slower way,
// on which a weight of 0 contributes nothing.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 2, query_tile = 8, key_tile = 16, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

// CHECK: func.func private @f.decode_online_edge(%{{.*}}: memref<292xf32>, %{{.*}}: memref<?x4xf32>, %{{.*}}: memref<?x8xf32>, %[[B:[a-z0-9]+]]: index, %[[E:[a-z0-9]+]]: index,
// CHECK: %[[SQ:.*]] = arith.subi %[[E]], %[[B]]
// CHECK: %[[ROWS:.*]] = arith.muli %[[SQ]], %c2
// CHECK: vector.fma
// CHECK: scf.for %[[R:.*]] = %c0 to %[[ROWS]] step %c1
// CHECK: arith.remui %[[R]], %{{.*}} : index
// CHECK: arith.cmpi sge, {{.*}} : vector<1xi32>
// CHECK: math.exp2
// CHECK: arith.cmpf ord
// CHECK: scf.if
// CHECK: vector.fma
// CHECK: else
// CHECK: %[[NONE:.*]] = arith.cmpf oeq, %{{.*}} : vector<4xf32>
// CHECK: arith.select %[[NONE]]
func.func private @f.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %sq: index, %first: index, %skv: index, %b: memref<1x?xf32>) {
  %c0 = arith.constant 0 : index
  %s = attn.init_state %q scale 0.5 {schedule = #d} : memref<?x4xf32> -> !attn.state<8 x 4 x 8, f32, decode>
  %n = attn.online %s, %k, %v rows %c0 to %sq keys from %first lengths %sq, %skv bias %b : memref<1x?xf32> where causal(bottom_right) mode edge {heads = 2 : i64, schedule = #d}
      : !attn.state<8 x 4 x 8, f32, decode>, memref<?x4xf32>, memref<?x8xf32>
  return
}
