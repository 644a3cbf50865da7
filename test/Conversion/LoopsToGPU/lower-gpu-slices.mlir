// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-lower-gpu-slices | FileCheck %s

// CHECK-LABEL: func.func private @layer.gpu_slices(
// CHECK-SAME: %[[AT:.*]]: memref<?xi32, strided<[?], offset: ?>> {attn.name = "at"}, %[[CALL:.*]]: !llvm.ptr) -> i1
// CHECK: %[[ELEMENT:.*]] = memref.subview %[[AT]][3] [1] [1]
// CHECK: memref.extract_aligned_pointer_as_index %[[ELEMENT]]
// CHECK: %[[SIZE:.*]] = memref.dim %[[AT]]
// CHECK: arith.cmpi ult, %c3, %[[SIZE]]
// CHECK: %[[ADDRESS:.*]] = llvm.inttoptr
// CHECK: %[[FOUR:.*]] = llvm.mlir.constant(4 : i32)
// CHECK: %[[BITS:.*]] = llvm.call @attn_rt_gpu_read(%[[CALL]], %[[ADDRESS]], %[[FOUR]])
// CHECK: %[[N:.*]] = arith.trunci %[[BITS]] : i64 to i32
// CHECK: arith.cmpi sge, %[[N]]
func.func private @layer.slices(%at: memref<?xi32, strided<[?], offset: ?>> {attn.name = "at"}) -> i1 {
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0 : i32
  %0 = memref.load %at[%c3] : memref<?xi32, strided<[?], offset: ?>>
  %1 = arith.cmpi sge, %0, %zero : i32
  return %1 : i1
}
func.func private @layer.kernel(%at: memref<?xi32, strided<[?], offset: ?>>, %work: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  return
}

// A check of floats and of an index.
// CHECK-LABEL: func.func private @kinds.gpu_slices(
// CHECK: arith.bitcast %{{.*}} : i16 to f16
// CHECK: arith.index_cast %{{.*}} : i64 to index
func.func private @kinds.slices(%f: memref<f16>, %i: memref<index>) -> i1 {
  %0 = memref.load %f[] : memref<f16>
  %1 = memref.load %i[] : memref<index>
  %2 = arith.fptosi %0 : f16 to i64
  %3 = arith.index_cast %2 : i64 to index
  %4 = arith.cmpi eq, %1, %3 : index
  return %4 : i1
}
func.func private @kinds.kernel(%f: memref<f16>, %i: memref<index>, %work: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  return
}

// Sizes alone are the host's.
// CHECK-LABEL: func.func private @sizes.slices(
// CHECK-SAME: -> i1
func.func private @sizes.slices(%x: memref<?xf32>) -> i1 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %0 = memref.dim %x, %c0 : memref<?xf32>
  %1 = arith.cmpi sge, %0, %c4 : index
  return %1 : i1
}
func.func private @sizes.kernel(%x: memref<?xf32>, %work: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  return
}
