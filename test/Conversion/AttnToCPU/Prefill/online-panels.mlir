// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A query block of 3 vectors divides few lengths: so that no vector lacks queries, the
// last query blocks hold two, for which a tile without a mask has code of its own. On
// the edge there is one code, and query blocks of a power of two are all alike.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize -o %t
// RUN: FileCheck %s --check-prefix=FULL < %t
// RUN: FileCheck %s --check-prefix=EDGE < %t
// RUN: FileCheck %s --check-prefix=EVEN < %t
#three = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 3, query_tile = 24, key_tile = 4, unroll = 1, prefetch = 0>
#two = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 2, query_tile = 16, key_tile = 4, unroll = 1, prefetch = 0>

// QueryBlock p begins at query 12 p, less 4 for each narrow one in front.
// FULL-LABEL: func.func private @three.online_full(
// FULL:       %[[QUERIES:.*]] = arith.subi %arg{{.*}}, %arg{{.*}} overflow
// FULL:       %[[COUNT:.*]] = arith.divui %{{.*}}, %c12
// FULL:       %[[NEEDED:.*]] = arith.divui %{{.*}}, %c4
// FULL:       %[[PLACES:.*]] = arith.muli %[[COUNT]], %c3
// FULL:       %[[MISSING:.*]] = arith.subi %[[PLACES]], %[[NEEDED]]
// FULL:       %[[WHOLE:.*]] = arith.subi %[[COUNT]], %[[MISSING]]
// FULL:       %[[FROM:.*]] = arith.maxsi %[[WHOLE]], %c0
// FULL:       scf.for %[[P:.*]] = %c0 to %[[COUNT]] step %c1 {
// FULL:       %[[IS_WHOLE:.*]] = arith.cmpi slt, %[[P]], %[[FROM]]
// FULL:       scf.if %[[IS_WHOLE]] {
// FULL:       scf.for {{.*}} -> ({{(vector<4xf32>, ){5}vector<4xf32>}})
// FULL:       } else {
// FULL:       scf.for {{.*}} -> ({{(vector<4xf32>, ){3}vector<4xf32>}})
// FULL:       return

// EDGE-LABEL: func.func private @three.online_edge(
// EDGE-NOT:   scf.for {{.*}} -> ({{(vector<4xf32>, ){3}vector<4xf32>}})
// EDGE:       return

// EVEN-LABEL: func.func private @two.online_full(
// EVEN-NOT:   } else {
// EVEN:       return
func.func private @three.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %v: memref<?x6xf32>, %b: index, %e: index, %sq: index, %sk: index) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #three} : memref<?x4xf32> -> <24 x 4 x 6, f32>
  %s1 = attn.online %s0, %k, %v rows %b to %e keys from %c0 lengths %sq, %sk mode full {schedule = #three} : <24 x 4 x 6, f32>, memref<?x4xf32>, memref<?x6xf32>
  %s2 = attn.online %s1, %k, %v rows %b to %e keys from %c0 lengths %sq, %sk where causal(top_left) mode edge {schedule = #three} : <24 x 4 x 6, f32>, memref<?x4xf32>, memref<?x6xf32>
  return
}
func.func private @two.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %v: memref<?x6xf32>, %b: index, %e: index, %sq: index, %sk: index) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #two} : memref<?x4xf32> -> <16 x 4 x 6, f32>
  %s1 = attn.online %s0, %k, %v rows %b to %e keys from %c0 lengths %sq, %sk mode full {schedule = #two} : <16 x 4 x 6, f32>, memref<?x4xf32>, memref<?x6xf32>
  return
}
