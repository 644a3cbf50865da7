// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A score function in a kernel of kind decode: the four queries of a block get a vector of keys each. Row r is query
// r mod Sq of head h + r / Sq, and lanes differ in the key alone.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 2, query_tile = 8, key_tile = 16, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

// CHECK: func.func private @f.decode_online_full(%{{.*}}, %{{.*}}, %{{.*}}, %[[B:[a-z0-9]+]]: index, %[[E:[a-z0-9]+]]: index, %[[FIRST:[a-z0-9]+]]: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %[[H:[a-z0-9]+]]: index, %[[T:[a-z0-9]+]]: memref<8x?xf32>)
// CHECK: vector.fma
// CHECK: %[[SQ:.*]] = arith.subi %[[E]], %[[B]]
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-4: vector.load
// CHECK-COUNT-8: vector.shuffle {{.*}} [{{0, 2, 4, 6|1, 3, 5, 7}}]
// CHECK: %[[OVER:.*]] = arith.divui %[[R:.*]], %[[SQ]]
// CHECK: arith.addi %[[H]], %[[OVER]]
// CHECK: arith.remui %[[R]], %[[SQ]]
// CHECK: memref.load %[[T]]
// CHECK: vector.shuffle {{.*}} [0, 4, 1, 5]
// CHECK: vector.shuffle {{.*}} [2, 6, 3, 7]
// CHECK: math.exp2
func.func private @f.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %sq: index, %first: index, %skv: index, %b: index, %h: index, %t: memref<8x?xf32>) {
  %c0 = arith.constant 0 : index
  %s = attn.init_state %q scale 0.5 {schedule = #d} : memref<?x4xf32> -> !attn.state<8 x 4 x 8, f32, decode>
  %n = attn.online %s, %k, %v rows %c0 to %sq keys from %first lengths %sq, %skv score_mod (%x: f32, %i, %j, %row, %key) of %b, %h with (%c = %t : memref<8x?xf32>) {
    %e = memref.load %c[%j, %row] : memref<8x?xf32>
    %y = arith.addf %x, %e : f32
    attn.yield %y : f32
  } mode full {heads = 2 : i64, schedule = #d}
      : !attn.state<8 x 4 x 8, f32, decode>, memref<?x4xf32>, memref<?x8xf32>
  return
}
