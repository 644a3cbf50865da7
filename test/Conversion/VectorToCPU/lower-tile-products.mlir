// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of tiles: tile registers that loops carry where the target has them, a
// loop over pairs elsewhere. Other contractions and vectors of rows stay.
// RUN: attn-opt %s --attn-lower-tile-products=amx --canonicalize --cse | FileCheck %s --check-prefixes=BOTH,AMX
// RUN: attn-opt %s --attn-lower-tile-products --cse | FileCheck %s --check-prefixes=BOTH,LOOP --implicit-check-not=call_intrinsic
#a = affine_map<(i, j, p, w) -> (i, p, w)>
#b = affine_map<(i, j, p, w) -> (p, j, w)>
#c = affine_map<(i, j, p, w) -> (i, j)>
#turned = affine_map<(i, j, p, w) -> (j, p, w)>

// BOTH-LABEL: func.func @multiply(
// BOTH-SAME: %[[K:.*]]: memref<?x64xbf16, strided<[?, 1], offset: ?>>, %[[S:.*]]: memref<96x32xf32>, %[[ROW:.*]]: index
// AMX-DAG: %[[R:.*]] = arith.constant 16 : i16
// AMX-DAG: %[[N:.*]] = arith.constant 64 : i16
// AMX-DAG: %[[BYTES:.*]] = arith.constant 128 : i64
// AMX: %[[ZERO:.*]] = llvm.call_intrinsic "llvm.x86.tilezero.internal"(%[[R]], %[[N]]) : (i16, i16) -> !llvm.x86_amx
// AMX: %[[SUM:.*]] = scf.for %[[D:.*]] = {{.*}} iter_args(%[[C:.*]] = %[[ZERO]]) -> (!llvm.x86_amx)
// AMX: %[[PLACE:.*]], %{{.*}}, %{{.*}}:2, %[[STRIDE:.*]]:2 = memref.extract_strided_metadata %[[K]]
// AMX: %[[P:.*]] = llvm.inttoptr %{{.*}} : i64 to !llvm.ptr
// AMX: %[[TWICE:.*]] = arith.muli %[[STRIDE]]#0, %c2
// AMX: %[[STEP:.*]] = arith.index_cast %[[TWICE]] : index to i64
// AMX: %[[A:.*]] = llvm.call_intrinsic "llvm.x86.tileloadd64.internal"(%[[R]], %[[N]], %[[P]], %[[STEP]]) : (i16, i16, !llvm.ptr, i64) -> !llvm.x86_amx
// AMX: %[[B:.*]] = llvm.call_intrinsic "llvm.x86.tileloadd64.internal"(%[[R]], %[[N]], %{{.*}}, %[[BYTES]])
// AMX: %[[NEXT:.*]] = llvm.call_intrinsic "llvm.x86.tdpbf16ps.internal"(%[[R]], %[[N]], %[[N]], %[[C]], %[[A]], %[[B]])
// AMX: scf.yield %[[NEXT]] : !llvm.x86_amx
// AMX: llvm.call_intrinsic "llvm.x86.tilestored64.internal"(%[[R]], %[[N]], %{{.*}}, %[[BYTES]], %[[SUM]]) : (i16, i16, !llvm.ptr, i64, !llvm.x86_amx) -> ()

// LOOP: %[[SUM:.*]] = scf.for %[[D:.*]] = {{.*}} iter_args(%[[C:.*]] = %{{.*}}) -> (vector<16x16xf32>)
// LOOP-NOT: vector<16x32xbf16>
// LOOP: %[[C0:.*]] = vector.extract %[[C]][0] : vector<16xf32> from vector<16x16xf32>
// LOOP: vector.extract %[[C]][15]
// LOOP: %[[ROWS:.*]]:16 = scf.for %[[P:.*]] = %c0 to %c16 step %c1 iter_args(%{{[^ ]*}} = %[[C0]],
// LOOP: %[[AT:.*]] = arith.addi %{{.*}}, %[[P]]
// LOOP: vector.load %[[S]][%[[AT]], %{{.*}}] : memref<96x32xf32>, vector<16xf32>
// LOOP: vector.load %[[K]][%{{.*}}, %{{.*}}] : {{.*}}, vector<2xbf16>
// LOOP-COUNT-16: vector.contract {{.*}} : vector<16x2xbf16>, vector<16x2xbf16> into vector<16xf32>
// LOOP: %[[N0:.*]] = vector.insert %[[ROWS]]#0, %[[C]] [0]
// LOOP: %[[NEXT:.*]] = vector.insert %[[ROWS]]#15, %{{.*}} [15]
// LOOP: scf.yield %[[NEXT]]
// LOOP: %[[FIRST:.*]] = vector.extract %[[SUM]][0]
// LOOP: vector.store %[[FIRST]], %[[S]][%{{.*}}, %c0] : memref<96x32xf32>, vector<16xf32>
// LOOP-COUNT-14: vector.store %{{.*}} : memref<96x32xf32>, vector<16xf32>
// LOOP: %[[LAST:.*]] = vector.extract %[[SUM]][15]
// LOOP: vector.store %[[LAST]], %[[S]]
// LOOP-NOT: vector.store
func.func @multiply(%k: memref<?x64xbf16, strided<[?, 1], offset: ?>>, %s: memref<96x32xf32>, %row: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %sum = scf.for %i = %c0 to %c2 step %c1 iter_args(%c = %zero) -> (vector<16x16xf32>) {
    %d = arith.muli %i, %c32 : index
    %r = arith.muli %i, %c16 : index
    %a = vector.load %k[%row, %d] : memref<?x64xbf16, strided<[?, 1], offset: ?>>, vector<16x32xbf16>
    %x = vector.shape_cast %a : vector<16x32xbf16> to vector<16x16x2xbf16>
    %b = vector.load %s[%r, %c0] : memref<96x32xf32>, vector<16x16xf32>
    %f = vector.bitcast %b : vector<16x16xf32> to vector<16x32xbf16>
    %y = vector.shape_cast %f : vector<16x32xbf16> to vector<16x16x2xbf16>
    %n = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction", "reduction"], kind = #vector.kind<add>} %x, %y, %c
        : vector<16x16x2xbf16>, vector<16x16x2xbf16> into vector<16x16xf32>
    scf.yield %n : vector<16x16xf32>
  }
  vector.store %sum, %s[%c64, %c0] : memref<96x32xf32>, vector<16x16xf32>
  return
}

// A load with two users, and a product that is used twice.
// BOTH-LABEL: func.func @shared(
// AMX: %[[A:.*]] = llvm.call_intrinsic "llvm.x86.tileloadd64.internal"
// AMX: %[[B:.*]] = llvm.call_intrinsic "llvm.x86.tileloadd64.internal"
// AMX: %[[X:.*]] = llvm.call_intrinsic "llvm.x86.tdpbf16ps.internal"({{.*}}, %[[A]], %[[B]])
// AMX: llvm.call_intrinsic "llvm.x86.tdpbf16ps.internal"({{.*}}, %[[X]], %[[A]], %[[B]])
// AMX-COUNT-2: tilestored64
// LOOP: %[[X:.*]]:16 = scf.for
// LOOP: vector.insert %[[X]]#15, %{{.*}} [15]
// LOOP: scf.for {{.*}} -> (vector<16xf32>,
// LOOP-COUNT-32: vector.store
func.func @shared(%s: memref<96x32xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %a = vector.load %s[%c0, %c0] : memref<96x32xf32>, vector<16x16xf32>
  %e = vector.bitcast %a : vector<16x16xf32> to vector<16x32xbf16>
  %x = vector.shape_cast %e : vector<16x32xbf16> to vector<16x16x2xbf16>
  %b = vector.load %s[%i, %c0] : memref<96x32xf32>, vector<16x16xf32>
  %f = vector.bitcast %b : vector<16x16xf32> to vector<16x32xbf16>
  %y = vector.shape_cast %f : vector<16x32xbf16> to vector<16x16x2xbf16>
  %n = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction", "reduction"], kind = #vector.kind<add>} %x, %y, %zero
      : vector<16x16x2xbf16>, vector<16x16x2xbf16> into vector<16x16xf32>
  %m = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction", "reduction"], kind = #vector.kind<add>} %x, %y, %n
      : vector<16x16x2xbf16>, vector<16x16x2xbf16> into vector<16x16xf32>
  vector.store %n, %s[%c0, %c0] : memref<96x32xf32>, vector<16x16xf32>
  vector.store %m, %s[%i, %c0] : memref<96x32xf32>, vector<16x16xf32>
  return
}

// Each sum begins in a register of its own.
// BOTH-LABEL: func.func @two_sums(
// AMX: %[[X:.*]] = llvm.call_intrinsic "llvm.x86.tilezero.internal"
// AMX: %[[Y:.*]] = llvm.call_intrinsic "llvm.x86.tilezero.internal"
// AMX: scf.for {{.*}} iter_args(%{{.*}} = %[[Y]], %{{.*}} = %[[X]])
func.func @two_sums(%s: memref<96x32xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %sums:2 = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero, %d = %zero) -> (vector<16x16xf32>, vector<16x16xf32>) {
    %a = vector.load %s[%i, %c0] : memref<96x32xf32>, vector<16x16xf32>
    %e = vector.bitcast %a : vector<16x16xf32> to vector<16x32xbf16>
    %x = vector.shape_cast %e : vector<16x32xbf16> to vector<16x16x2xbf16>
    %m = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction", "reduction"], kind = #vector.kind<add>} %x, %x, %c
        : vector<16x16x2xbf16>, vector<16x16x2xbf16> into vector<16x16xf32>
    %n2 = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction", "reduction"], kind = #vector.kind<add>} %x, %x, %d
        : vector<16x16x2xbf16>, vector<16x16x2xbf16> into vector<16x16xf32>
    scf.yield %m, %n2 : vector<16x16xf32>, vector<16x16xf32>
  }
  vector.store %sums#0, %s[%c0, %c0] : memref<96x32xf32>, vector<16x16xf32>
  vector.store %sums#1, %s[%n, %c0] : memref<96x32xf32>, vector<16x16xf32>
  return
}

// BOTH-LABEL: func.func @other_vectors(
// BOTH: vector.load {{.*}} : memref<96x32xf32>, vector<8x16xf32>
// BOTH: vector.contract {{.*}} : vector<16x2xbf16>, vector<16x2xbf16> into vector<16xf32>
// BOTH: vector.contract {{.*}} : vector<8x8x2xbf16>, vector<8x8x2xbf16> into vector<8x8xf32>
func.func @other_vectors(%s: memref<96x32xf32>, %i: index, %x: vector<16x2xbf16>, %c: vector<16xf32>, %y: vector<8x8x2xbf16>, %d: vector<8x8xf32>) -> (vector<8x16xf32>, vector<16xf32>, vector<8x8xf32>) {
  %a = vector.load %s[%i, %i] : memref<96x32xf32>, vector<8x16xf32>
  %pairs = vector.contract {indexing_maps = [affine_map<(l, w) -> (l, w)>, affine_map<(l, w) -> (l, w)>, affine_map<(l, w) -> (l)>], iterator_types = ["parallel", "reduction"], kind = #vector.kind<add>} %x, %x, %c
      : vector<16x2xbf16>, vector<16x2xbf16> into vector<16xf32>
  %small = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction", "reduction"], kind = #vector.kind<add>} %y, %y, %d
      : vector<8x8x2xbf16>, vector<8x8x2xbf16> into vector<8x8xf32>
  return %a, %pairs, %small : vector<8x16xf32>, vector<16xf32>, vector<8x8xf32>
}
