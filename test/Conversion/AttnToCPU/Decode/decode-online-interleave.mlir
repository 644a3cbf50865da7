// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors of 4 features of 2 queries: the parts of a block's queries lie behind each
// other; 4 features of a key are read twice into a vector, and sums of 4 lanes are
// taken apart by query. The 10 features are two parts and one that overlaps the second.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize --cse | FileCheck %s
#d = #attn.cpu_schedule<lanes = 8, rows = 2, vectors = 1, query_tile = 8, key_tile = 16, unroll = 1, prefetch = 2, kind = decode, split_keys = 64, interleave = 2>

// CHECK-LABEL: func.func private @f.decode_init_state(
// CHECK: scf.for %[[ROW:.*]] = %c0
// CHECK: %[[BLOCK:.*]] = arith.divui %[[ROW]], %c4
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c4
// CHECK: %[[WITHIN:.*]] = arith.subi %[[ROW]], %[[FIRST]]
// CHECK: %[[AT:.*]] = arith.muli %[[WITHIN]], %c4
// CHECK: vector.store %{{.*}}, %[[Q:.*]][%[[BLOCK]], %[[AT]]] : memref<2x48xf32, strided<[48, 1]>>, vector<4xf32>
// CHECK: %[[BEHIND:.*]] = arith.addi %[[AT]], %c16
// CHECK: vector.store %{{.*}}, %[[Q]][%[[BLOCK]], %[[BEHIND]]]
// CHECK: vector.load %{{.*}}[%{{.*}}, %c6] : memref<?x10xf32>, vector<4xf32>
// CHECK: vector.store

// Two turns of one part, which prefetch a key each.
// CHECK: func.func private @f.decode_online_full(%{{.*}}: memref<{{[0-9]+}}xf32>, %[[K:[a-z0-9]+]]: memref<?x10xf32>,
// CHECK: scf.for %[[TURN:.*]] = %c0 to %c2 step %c1 iter_args
// CHECK: memref.prefetch %[[K]]
// CHECK-NOT: memref.prefetch
// CHECK: %[[FEW:.*]] = vector.load %[[K]]{{.*}} : memref<?x10xf32>, vector<4xf32>
// CHECK: %[[TWICE:.*]] = vector.shuffle %[[FEW]], %[[FEW]] [0, 1, 2, 3, 0, 1, 2, 3]
// CHECK: %[[COLUMN:.*]] = arith.muli %[[TURN]], %c16
// CHECK: %[[Q0:.*]] = vector.load %{{.*}}[%{{.*}}, %[[COLUMN]]] : memref<2x48xf32, strided<[48, 1]>>, vector<8xf32>
// CHECK: vector.fma %[[TWICE]], %[[Q0]]
// CHECK: %[[Q1:.*]] = vector.load %{{.*}} : memref<2x48xf32, strided<[48, 1]>>, vector<8xf32>
// CHECK: vector.fma %[[TWICE]], %[[Q1]]
// CHECK: scf.yield
// CHECK: vector.load %[[K]][%{{.*}}, %c6] : memref<?x10xf32>, vector<4xf32>
// CHECK: arith.select %{{.*}} : vector<4xi1>, vector<4xf32>
// CHECK-COUNT-3: arith.addf %{{.*}} : vector<8xf32>
// CHECK-NOT: arith.addf
// CHECK: %[[SUMS:.*]] = vector.shuffle %{{.*}} [0, 4, 1, 5, 2, 6, 3, 7] : vector<8xf32>, vector<8xf32>
// CHECK: vector.store %[[SUMS]]
// CHECK: math.exp2
func.func private @f.kernel(%q: memref<?x10xf32>, %k: memref<?x10xf32>, %v: memref<?x16xf32>, %sq: index, %first: index, %skv: index) {
  %c0 = arith.constant 0 : index
  %s = attn.init_state %q scale 0.5 {schedule = #d} : memref<?x10xf32> -> !attn.state<8 x 10 x 16, f32, decode>
  %n = attn.online %s, %k, %v rows %c0 to %sq keys from %first lengths %sq, %skv mode full {heads = 8 : i64, schedule = #d}
      : !attn.state<8 x 10 x 16, f32, decode>, memref<?x10xf32>, memref<?x16xf32>
  return
}

// Of 8 features of 2 queries in a vector, groups of 4 are added for each query alone: 8
// vectors become one in three levels.
#two = #attn.cpu_schedule<lanes = 16, rows = 4, vectors = 1, query_tile = 8, key_tile = 16, unroll = 1, prefetch = 0, kind = decode, split_keys = 64, block = 8, interleave = 2>
// CHECK-LABEL: func.func private @two.decode_online_full(
// CHECK-COUNT-16: vector.fma
// CHECK-NOT: vector.fma
// CHECK-COUNT-7: arith.addf %{{.*}} : vector<16xf32>
// CHECK-NOT: arith.addf
// CHECK: vector.shuffle %{{.*}} [0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15] : vector<16xf32>, vector<16xf32>
// CHECK: vector.store
// CHECK-COUNT-7: arith.addf %{{.*}} : vector<16xf32>
// CHECK: vector.shuffle %{{.*}} [0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15] : vector<16xf32>, vector<16xf32>
// CHECK: math.exp2
func.func private @two.kernel(%q: memref<?x8xf16>, %k: memref<?x8xf16>, %v: memref<?x16xf16>, %sq: index, %first: index, %skv: index) {
  %c0 = arith.constant 0 : index
  %s = attn.init_state %q scale 0.5 {schedule = #two} : memref<?x8xf16> -> !attn.state<8 x 8 x 16, f32, decode>
  %n = attn.online %s, %k, %v rows %c0 to %sq keys from %first lengths %sq, %skv mode full {heads = 8 : i64, schedule = #two}
      : !attn.state<8 x 8 x 16, f32, decode>, memref<?x8xf16>, memref<?x16xf16>
  return
}
