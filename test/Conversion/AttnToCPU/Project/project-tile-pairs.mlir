// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of bf16 add up pairs: the input is copied in pairs, of which the last
// number is 0 where the depth is odd, and so is what the weight packs beside its
// last row. Of products of tiles the sums go through memory, where the bias is
// added.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize --cse -split-input-file | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 64, unroll = 1, prefetch = 0, products = dot>

// CHECK-LABEL: func.func private @pairs.project(
// CHECK-SAME: %[[X:[^,]*]]: memref<?x7xbf16>, %[[W:[^,]*]]: memref<1x4x8xbf16>, %{{[^,]*}}: memref<?x4xbf16>, %[[COPY:[^,]*]]: memref<16x16xf32>)
// CHECK: vector.maskedload %[[X]]{{.*}} : memref<?x7xbf16>, vector<8xi1>, vector<8xbf16> into vector<8xbf16>
// CHECK: vector.store %{{.*}}, %[[COPY]]
// CHECK: %[[PANEL:.*]] = memref.subview %[[W]]
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<4xf32>, vector<4xf32>)
// CHECK: %[[NUMBERS:.*]] = vector.load %[[PANEL]]{{.*}}, vector<8xbf16>
// CHECK: vector.contract {{.*}} : vector<4x2xbf16>, vector<4x2xbf16> into vector<4xf32>
// CHECK-NOT: vector.fma
func.func private @pairs.kernel(%x: memref<?x7xbf16>, %w: memref<1x4x8xbf16>, %o: memref<?x4xbf16>) {
  attn.project_tile %x, %w outs(%o : memref<?x4xbf16>) {schedule = #s} : memref<?x7xbf16>, memref<1x4x8xbf16>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 64, unroll = 1, prefetch = 0, products = dot>

// CHECK-LABEL: func.func private @pack.pack_panels(
// CHECK-SAME: %[[W:[^,]*]]: memref<7x4xbf16>, %[[P:[^,]*]]: memref<1x4x8xbf16>)
// CHECK: scf.for %{{.*}} = %c0 to %c3
// CHECK: %[[EVEN:.*]] = vector.load %[[W]]
// CHECK: %[[ODD:.*]] = vector.load %[[W]]
// CHECK: vector.interleave {{.*}} : vector<4xi16> -> vector<8xi16>
// CHECK: vector.store %{{.*}}, %[[P]]
// CHECK: %[[LAST:.*]] = vector.load %[[W]][%c6, %c0]
// CHECK: vector.interleave {{.*}} : vector<4xi16> -> vector<8xi16>
func.func private @pack.kernel(%w: memref<7x4xbf16>, %p: memref<1x4x8xbf16>) {
  attn.pack_panels %w outs(%p : memref<1x4x8xbf16>) {schedule = #s} : memref<7x4xbf16>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 64, unroll = 1, prefetch = 0, products = dot>

// CHECK-LABEL: func.func private @transposed.pack_panels(
// CHECK-SAME: %[[W:[^,]*]]: memref<4x8xbf16>
// CHECK-COUNT-4: vector.load %[[W]]{{.*}}, vector<8xbf16>
// CHECK: vector.shuffle
func.func private @transposed.kernel(%w: memref<4x8xbf16>, %p: memref<1x4x8xbf16>) {
  attn.pack_panels %w transposed outs(%p : memref<1x4x8xbf16>) {schedule = #s} : memref<4x8xbf16>
  return
}

// -----

#t = #attn.cpu_schedule<lanes = 16, rows = 32, vectors = 2, query_tile = 64, key_tile = 64, unroll = 1, prefetch = 0, products = amx>

// CHECK-LABEL: func.func private @tiles.project(
// CHECK-SAME: %{{[^,]*}}: memref<?x64xbf16>, %[[W:[^,]*]]: memref<?x32x64xbf16>, %[[B:[^,]*]]: memref<?xf32>, %{{[^,]*}}: memref<?x?xbf16>, %[[COPY:[^,]*]]: memref<64x48xf32>, %[[SUMS:[^,]*]]: memref<32x32xf32>)
// CHECK: scf.for {{.*}} -> (vector<16x16xf32>, vector<16x16xf32>, vector<16x16xf32>, vector<16x16xf32>)
// CHECK: vector.load %{{.*}} {nontemporal = true} : memref<32x48xf32, {{.*}}>, vector<16x16xf32>
// CHECK-COUNT-4: vector.contract {{.*}} : vector<16x16x2xbf16>, vector<16x16x2xbf16> into vector<16x16xf32>
// CHECK-COUNT-4: vector.store %{{.*}}, %[[SUMS]]
// CHECK: %[[SUM:.*]] = vector.load %[[SUMS]]
// CHECK: arith.addf %{{.*}}, %[[SUM]]
func.func private @tiles.kernel(%x: memref<?x64xbf16>, %w: memref<?x32x64xbf16>, %b: memref<?xf32>, %o: memref<?x?xbf16>) {
  attn.project_tile %x, %w bias %b : memref<?xf32> outs(%o : memref<?x?xbf16>) {schedule = #t} : memref<?x64xbf16>, memref<?x32x64xbf16>
  return
}
