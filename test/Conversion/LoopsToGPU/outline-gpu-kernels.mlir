// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parallel loops become kernels; the host's function keeps control and buffers.
//
// RUN: attn-opt %s --attn-outline-gpu-kernels --split-input-file | FileCheck %s

// A kernel takes what its loop used, but for constants.
// CHECK:       module attributes {gpu.container_module} {
// CHECK:         gpu.module @kernels {
// CHECK:           gpu.func @double_0(%[[ROWS:.*]]: index, %[[X:.*]]: memref<?x8xf32, strided<[?, 1], offset: ?>>, %[[OUT:.*]]: memref<?x8xf32, strided<[?, 1], offset: ?>>) kernel {
// Items go to the threads by turns.
// CHECK-DAG:         %[[COLUMNS:.*]] = arith.constant 8 : index
// CHECK-DAG:         %[[THREAD:.*]] = gpu.global_id x
// CHECK-DAG:         %[[GRID:.*]] = gpu.grid_dim x
// CHECK-DAG:         %[[BLOCK:.*]] = gpu.block_dim x
// CHECK:             %[[THREADS:.*]] = arith.muli %[[GRID]], %[[BLOCK]]
// CHECK:             %[[ITEMS:.*]] = arith.muli %{{.*}}, %[[COLUMNS]]
// CHECK:             scf.for %[[I:.*]] = %[[THREAD]] to %[[ITEMS]] step %[[THREADS]] {
// CHECK:               %[[COLUMN:.*]] = arith.remui %[[I]], %[[COLUMNS]]
// CHECK:               %[[ROW:.*]] = arith.divui %[[I]], %[[COLUMNS]]
// CHECK:               memref.load %[[X]][%[[ROW]], %[[COLUMN]]]
// CHECK:               memref.store %{{.*}}, %[[OUT]][%[[ROW]], %[[COLUMN]]]
// CHECK:             gpu.return
// CHECK-LABEL:   func.func private @double.kernel(
// CHECK-SAME:      %[[HX:[a-z0-9]*]]: memref<?x8xf32, strided<[?, 1], offset: ?>>, %[[HOUT:[a-z0-9]*]]:
// CHECK:           %[[DIM:.*]] = memref.dim %[[HX]]
// CHECK:           %[[NEEDED:.*]] = arith.ceildivui
// CHECK:           %[[BLOCKS:.*]] = arith.minui %[[NEEDED]]
// CHECK:           gpu.launch_func @kernels::@double_0 blocks in (%[[BLOCKS]], %{{.*}}, %{{.*}}) threads in (%{{.*}}, %{{.*}}, %{{.*}}) dynamic_shared_memory_size %{{.*}} args(%[[DIM]] : index, %[[HX]] : {{.*}}, %[[HOUT]] : {{.*}})
// CHECK-NEXT:      return
func.func private @double.kernel(%x: memref<?x8xf32, strided<[?, 1], offset: ?>>, %out: memref<?x8xf32, strided<[?, 1], offset: ?>>, %work: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x8xf32, strided<[?, 1], offset: ?>>
  scf.forall (%i, %j) in (%rows, 8) {
    %0 = memref.load %x[%i, %j] : memref<?x8xf32, strided<[?, 1], offset: ?>>
    %1 = arith.addf %0, %0 : f32
    memref.store %1, %out[%i, %j] : memref<?x8xf32, strided<[?, 1], offset: ?>>
  }
  return
}

// -----

// Two loops are two kernels, in their order, with a buffer of the host's.
// CHECK:           gpu.func @two_0(
// CHECK:           gpu.func @two_1(
// CHECK-LABEL:   func.func private @two.kernel(
// CHECK:           %[[BUFFER:.*]] = memref.alloc() : memref<8xf32>
// CHECK:           gpu.launch_func @kernels::@two_0 {{.*}} args(%{{.*}} : memref<8xf32>, %[[BUFFER]] : memref<8xf32>)
// CHECK:           gpu.launch_func @kernels::@two_1 {{.*}} args(%[[BUFFER]] : memref<8xf32>, %{{.*}} : memref<8xf32>)
func.func private @two.kernel(%x: memref<8xf32>, %out: memref<8xf32>, %work: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %buffer = memref.alloc() : memref<8xf32>
  scf.forall (%i) in (8) {
    %0 = memref.load %x[%i] : memref<8xf32>
    memref.store %0, %buffer[%i] : memref<8xf32>
  }
  scf.forall (%i) in (8) {
    %0 = memref.load %buffer[%i] : memref<8xf32>
    memref.store %0, %out[%i] : memref<8xf32>
  }
  return
}

// -----

// Memory of an item: small memory is local, in front of the loop; other memory
// is a row of a buffer that has one for each thread.
// CHECK:           gpu.func @own_0(
// CHECK-SAME:        %[[ALL:[a-z0-9]*]]: memref<?x?xf32>
// CHECK:             %[[THREAD:.*]] = gpu.global_id x
// CHECK:             memref.alloca() {alignment = 16 : i64} : memref<3xf32>
// CHECK:             memref.subview %[[ALL]][%[[THREAD]], 0]
// CHECK:             scf.for
// CHECK-NOT:         memref.alloc
// CHECK-LABEL:   func.func private @own.kernel(
// CHECK:           %[[BLOCKS:.*]] = arith.minui
// CHECK:           %[[THREADS:.*]] = arith.muli %[[BLOCKS]]
// CHECK:           memref.alloc(%[[THREADS]], %{{.*}}) {alignment = 64 : i64} : memref<?x?xf32>
func.func private @own.kernel(%x: memref<?xf32, strided<[1], offset: ?>>, %out: memref<8xf32, strided<[1], offset: ?>>, %work: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %size = memref.dim %x, %c0 : memref<?xf32, strided<[1], offset: ?>>
  scf.forall (%i) in (8) {
    %small = memref.alloc() : memref<3xf32>
    %row = memref.alloc(%size) : memref<?xf32>
    %0 = memref.load %x[%i] : memref<?xf32, strided<[1], offset: ?>>
    memref.store %0, %row[%c0] : memref<?xf32>
    memref.store %0, %small[%c0] : memref<3xf32>
    %1 = memref.load %row[%c0] : memref<?xf32>
    %2 = memref.load %small[%c0] : memref<3xf32>
    %3 = arith.addf %1, %2 : f32
    memref.store %3, %out[%i] : memref<8xf32, strided<[1], offset: ?>>
  }
  return
}

// -----

// Copies are loops over elements; other accesses are what one thread does, and
// control stays with the host.
// CHECK:           gpu.func @rest_0(
// CHECK:             memref.store
// CHECK:           gpu.func @rest_1(
// CHECK:             memref.load
// CHECK:             arith.addf
// CHECK:             memref.store
// CHECK-LABEL:   func.func private @rest.kernel(
// CHECK:           scf.for
// CHECK-NOT:         memref.load
// CHECK:             gpu.launch_func @kernels::@rest_0
// CHECK:           gpu.launch_func @kernels::@rest_1
func.func private @rest.kernel(%x: memref<4xf32>, %out: memref<4xf32>, %work: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    memref.copy %x, %out : memref<4xf32> to memref<4xf32>
  }
  %0 = memref.load %x[%c0] : memref<4xf32>
  %1 = arith.addf %0, %0 : f32
  memref.store %1, %out[%c0] : memref<4xf32>
  return
}

// -----

// What is read between an access and what depends on it goes with them, and so does what depends on that.
// CHECK:           gpu.func @between_0(
// CHECK:             memref.load
// CHECK:             memref.load
// CHECK:             memref.store
// CHECK:             arith.mulf
// CHECK:             memref.store
// CHECK-LABEL:   func.func private @between.kernel(
// CHECK:           gpu.launch_func @kernels::@between_0
// CHECK-NOT:       gpu.launch_func
func.func private @between.kernel(%x: memref<4xf32>, %out: memref<4xf32>, %work: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = memref.load %x[%c0] : memref<4xf32>
  %1 = memref.load %x[%c1] : memref<4xf32>
  %2 = arith.addf %0, %0 : f32
  memref.store %2, %out[%c0] : memref<4xf32>
  %3 = arith.mulf %1, %1 : f32
  memref.store %3, %out[%c1] : memref<4xf32>
  return
}

// -----

// A loop that says what its kernel is called; two of one name are told apart.
// CHECK:           gpu.func @named_merge(
// CHECK:           gpu.func @named_merge_2(
// CHECK:           gpu.func @named_0(
func.func private @named.kernel(%x: memref<?xf32, strided<[1], offset: ?>>, %work: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (8) {
    memref.store %zero, %x[%i] : memref<?xf32, strided<[1], offset: ?>>
  } {attn.kernel = "merge"}
  scf.forall (%i) in (4) {
    memref.store %zero, %x[%i] : memref<?xf32, strided<[1], offset: ?>>
  } {attn.kernel = "merge"}
  scf.forall (%i) in (2) {
    memref.store %zero, %x[%i] : memref<?xf32, strided<[1], offset: ?>>
  }
  return
}
