// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A state of kind decode is one buffer: queries (2 blocks x 4 x 8), context (8 x 8), scores (2 x 80)
// and statistics (3 x 12). The 6 features of a query are two vectors, of which the
// second overlaps the first: it is 0 there. Rows that fill up a block are 0.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 2, query_tile = 8, key_tile = 16, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

// CHECK: func.func private @f.decode_init_state(%[[S:.*]]: memref<324xf32>, %[[Q:.*]]: memref<?x6xf32>)
// CHECK-DAG: %[[FACTOR:.*]] = arith.constant dense<0.72134751> : vector<4xf32>
// CHECK-DAG: %[[FRESH:.*]] = arith.constant dense<[false, false, true, true]> : vector<4xi1>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<4xf32>
// CHECK-DAG: %[[INF:.*]] = arith.constant dense<0xFF800000> : vector<4xf32>
// CHECK: %[[QUERIES:.*]] = memref.reinterpret_cast %[[S]] to offset: [0], sizes: [2, 32]
// CHECK: %[[CONTEXT:.*]] = memref.reinterpret_cast %[[S]] to offset: [64], sizes: [8, 8]
// CHECK: %[[STATS:.*]] = memref.reinterpret_cast %[[S]] to offset: [288], sizes: [3, 12]
// CHECK: scf.for %[[R:.*]] = %c0 to %[[ROWS:.*]] step %c1
// CHECK: %[[BLOCK:.*]] = arith.divui %[[R]], %c4
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c4
// CHECK: %[[WITHIN:.*]] = arith.subi %[[R]], %[[FIRST]]
// CHECK: %[[AT:.*]] = arith.muli %[[WITHIN]], %c8
// CHECK: %[[A:.*]] = vector.load %[[Q]][%[[R]], %c0]
// CHECK: %[[SA:.*]] = arith.mulf %[[A]], %[[FACTOR]]
// CHECK: vector.store %[[SA]], %[[QUERIES]][%[[BLOCK]], %[[AT]]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[AT]], %c4
// CHECK: %[[B:.*]] = vector.load %[[Q]][%[[R]], %c2]
// CHECK: %[[FB:.*]] = arith.select %[[FRESH]], %[[B]], %[[ZERO]]
// CHECK: %[[SB:.*]] = arith.mulf %[[FB]], %[[FACTOR]]
// CHECK: vector.store %[[SB]], %[[QUERIES]][%[[BLOCK]], %[[NEXT]]]
// CHECK: scf.for %[[E:.*]] = %[[ROWS]] to
// CHECK: arith.divui %[[E]], %c4
// CHECK-COUNT-2: vector.store %[[ZERO]], %[[QUERIES]]
// CHECK: vector.store %[[ZERO]], %[[CONTEXT]]
// CHECK: vector.store %[[INF]], %[[STATS]][%c0,
// CHECK: vector.store %[[ZERO]], %[[STATS]][%c1,
func.func private @f.kernel(%q: memref<?x6xf32>) {
  %s = attn.init_state %q scale 0.5 {schedule = #d} : memref<?x6xf32> -> !attn.state<8 x 6 x 8, f32, decode>
  return
}
