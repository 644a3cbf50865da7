// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queries for products of tiles: 33 numbers are 17 rows of pairs, padded with 0 to
// 32. The factor of the scores stands behind everything else.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 16, rows = 32, vectors = 2, query_tile = 32, key_tile = 64, unroll = 1, prefetch = 0, products = amx>

// rows: 32 queries + 6 context + 64 + 32 weights + 4 statistics + 64 * 32 / 32
// keys + 16 * 32 / 32 values + 32 products + the factor
// CHECK: func.func private @f.init_state(%[[S:.*]]: memref<235x32xf32>, %{{.*}}: memref<?x33xbf16>)
// CHECK-DAG: %[[C17:.*]] = arith.constant 17 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[C234:.*]] = arith.constant 234 : index
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK: vector.store %{{.*}}, %[[S]][%[[C234]], %c0]
// CHECK: scf.for %[[ROW:.*]] = %[[C17]] to %[[C32]]
// CHECK-NEXT: %[[AT:.*]] = arith.addi %{{.*}}, %[[ROW]]
// CHECK-NEXT: vector.store %[[ZERO]], %[[S]][%[[AT]], %c0]
// CHECK: vector.store %[[ZERO]], %[[S]][%{{.*}}, %c16]
func.func private @f.kernel(%q: memref<?x33xbf16>) {
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x33xbf16> -> <32 x 33 x 6, f32>
  return
}

// Whole tiles need no padding, and of the keys only fewer than 32 are copied:
// 32 + 16 + 96 + 4 + 32 * 32 / 32 + 16 * 32 / 32 + 32 + 1 rows.
// CHECK: func.func private @g.init_state(%[[S:[^:]*]]: memref<213x32xf32>
// CHECK-NOT: scf.for %{{.*}} = %c32 to %c32
func.func private @g.kernel(%q: memref<?x64xbf16>) {
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x64xbf16> -> <32 x 64 x 16, f32>
  return
}
