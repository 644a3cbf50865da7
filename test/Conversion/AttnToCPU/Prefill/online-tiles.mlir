// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of tiles. Keys whose rows do not fill tiles are copied and padded, values
// are transposed by 32 keys and 16 features, also a part of each. Sums are written
// into the rows of the scores, and the maximum is taken there; weights behind the
// last key are 0. The context's sums are added to it row by row.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 16, rows = 32, vectors = 2, query_tile = 32, key_tile = 64, unroll = 1, prefetch = 0, products = amx>

// CHECK: func.func private @f.online_full(%[[S:.*]]: memref<249x32xf32>, %[[K:.*]]: memref<?x33xbf16>, %[[V:.*]]: memref<?x20xbf16>
// CHECK-DAG: %[[SUMS:.*]] = arith.constant dense<0.000000e+00> : vector<16x16xf32>
// CHECK-DAG: %[[NONE:.*]] = arith.constant dense<0.000000e+00> : vector<16xbf16>
// CHECK-DAG: %[[COUNT:.*]] = memref.dim %[[K]], %c0

// The keys, 33 numbers of each, and zeros up to 32 keys.
// CHECK: %[[PADDED:.*]] = memref.reinterpret_cast %[[S]] {{.*}} to memref<64x32xf32
// CHECK: scf.for %[[ROW:.*]] = %c0 to %[[COUNT]] step %c1
// CHECK: vector.load %[[K]][%[[ROW]], %c0] {{.*}} vector<32xbf16>
// CHECK: vector.store %{{.*}}, %[[PADDED]][%[[ROW]], %c0]
// CHECK: %[[MASK:.*]] = vector.constant_mask [1] : vector<32xi1>
// CHECK: vector.maskedload %[[K]][%[[ROW]], %c32], %[[MASK]]
// CHECK: vector.store %{{.*}}, %[[PADDED]][%[[ROW]], %c16]
// CHECK: scf.for %{{.*}} = %[[COUNT]] to %c32 step %c1

// CHECK: %[[TILES:.*]]:4 = scf.for %{{.*}} = %c0 to %c2 step %c1 iter_args(%[[C:.*]] = %[[SUMS]], %{{.*}} = %[[SUMS]], %{{.*}} = %[[SUMS]], %{{.*}} = %[[SUMS]])
// CHECK: vector.load %[[PADDED]]{{.*}} vector<16x16xf32>
// CHECK: vector.load %[[PADDED]]{{.*}} vector<16x16xf32>
// CHECK: vector.load %[[S]]{{.*}} vector<16x16xf32>
// CHECK: vector.contract {{.*}} %[[C]] : vector<16x16x2xbf16>, vector<16x16x2xbf16> into vector<16x16xf32>
// CHECK: vector.contract
// CHECK: vector.load %[[S]]{{.*}} vector<16x16xf32>
// CHECK-COUNT-2: vector.contract
// CHECK: vector.store %[[TILES]]#0, %[[S]]
// CHECK-COUNT-3: vector.store %{{.*}} vector<16x16xf32>
// CHECK: scf.for %{{.*}} step %c4
// CHECK: arith.cmpf ogt

// Weights in pairs, and 0 up to a multiple of 32 keys.
// CHECK: math.exp2 %{{.*}} fastmath<afn>
// CHECK: vector.interleave
// CHECK: math.exp2 %{{.*}} fastmath<afn>
// CHECK: scf.for
// CHECK-NEXT: arith.addi
// CHECK-NEXT: vector.store %{{.*}}, %[[S]]
// CHECK-NEXT: vector.store %{{.*}}, %[[S]]
// CHECK-NEXT: }

// The values: 16 columns and 4, of all groups of 32 keys and of the rest.
// CHECK: %[[TURNED:.*]] = memref.reinterpret_cast %[[S]] {{.*}} to memref<32x32xf32
// CHECK: scf.for
// CHECK: %[[EVEN:.*]] = vector.load %[[V]]
// CHECK: %[[ODD:.*]] = vector.load %[[V]]
// CHECK: vector.interleave %[[EVEN]], %[[ODD]] : vector<16xbf16> -> vector<32xbf16>
// CHECK: vector.shuffle
// CHECK: vector.store %{{.*}}, %[[TURNED]]
// CHECK: vector.constant_mask [4] : vector<16xi1>
// CHECK: vector.maskedload %[[V]]
// CHECK: scf.if
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[NONE]] : vector<16xbf16>

// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[SUMS]]
// CHECK: vector.load %[[TURNED]][%c0, {{.*}} vector<16x16xf32>
// CHECK: vector.load %[[TURNED]][%c16, {{.*}} vector<16x16xf32>
// CHECK-COUNT-4: vector.contract
// CHECK: vector.store %{{.*}}, %[[S]][%c216, %c0] {{.*}} vector<16x16xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c20 step %c4
// CHECK-COUNT-8: vector.fma {{.*}} : vector<16xf32>
// CHECK: func.func private @f.kernel(
func.func private @f.kernel(%q: memref<?x33xbf16>, %k: memref<?x33xbf16>, %v: memref<?x20xbf16>, %b: index, %e: index) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x33xbf16> -> <32 x 33 x 20, f32>
  %s1 = attn.online %s0, %k, %v rows %b to %e keys from %c0 lengths %b, %b mode full {schedule = #s} : <32 x 33 x 20, f32>, memref<?x33xbf16>, memref<?x20xbf16>
  return
}

// Keys whose rows fill tiles are read where they lie, but for fewer than 32.
// CHECK: func.func private @g.online_edge(%[[S:[^:]*]]: memref<213x32xf32>, %[[K:[^:]*]]: memref<?x64xbf16>
// CHECK-DAG: %[[COUNT:.*]] = memref.dim %[[K]], %c0
// CHECK: %[[PADDED:.*]] = memref.reinterpret_cast %[[S]] {{.*}} to memref<32x32xf32
// CHECK: %[[FEW:.*]] = arith.cmpi slt, %[[COUNT]], %c32
// CHECK: scf.if %[[FEW]]
// CHECK: vector.store %{{.*}}, %[[PADDED]]
// CHECK: vector.load %[[K]]{{.*}} vector<16x32xbf16>
// CHECK: scf.if %[[FEW]]
// CHECK: vector.load %[[PADDED]]{{.*}} vector<16x16xf32>
// CHECK: } else {
// CHECK: vector.load %[[K]]{{.*}} vector<16x32xbf16>
// An edge tile's values may be infinite.
// CHECK: vector.reduction <and>
func.func private @g.kernel(%q: memref<?x64xbf16>, %k: memref<?x64xbf16>, %v: memref<?x16xbf16>, %b: index, %e: index) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x64xbf16> -> <32 x 64 x 16, f32>
  %s1 = attn.online %s0, %k, %v rows %b to %e keys from %c0 lengths %b, %b mode edge {schedule = #s} : <32 x 64 x 16, f32>, memref<?x64xbf16>, memref<?x16xbf16>
  return
}
