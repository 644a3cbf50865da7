// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parallel loops become kernels of pointers and sizes.
//
// RUN: attn-opt %s --attn-outline-gpu-kernels --split-input-file | FileCheck %s

#x = #attn.port<"x", input [x0, 8] : tensor<?x8xf32>>
#out = #attn.port<"out", output [x0, 8] : tensor<?x8xf32>>

// The pointers, then the sizes that have names.
// CHECK-LABEL: llvm.func @double(
// CHECK-SAME:    %[[X:.*]]: !llvm.ptr, %[[OUT:.*]]: !llvm.ptr, %[[SIZE:.*]]: i64)
// CHECK-SAME:    attributes {nvvm.kernel}
// A view without gaps: strides 8 and 1.
// CHECK:         %[[EIGHT:.*]] = llvm.mlir.constant(8 : i64)
// CHECK:         %[[S0:.*]] = llvm.insertvalue %[[EIGHT]], %{{.*}}[3, 1]
// CHECK:         llvm.insertvalue %{{.*}}, %[[S0]][4, 1]
// CHECK:         llvm.insertvalue %[[SIZE]], %{{.*}}[3, 0]
// CHECK:         builtin.unrealized_conversion_cast
// Items go to the threads by turns.
// CHECK:         nvvm.read.ptx.sreg.ntid.x
// CHECK:         nvvm.read.ptx.sreg.ctaid.x
// CHECK:         nvvm.read.ptx.sreg.tid.x
// CHECK:         nvvm.read.ptx.sreg.nctaid.x
// CHECK:         %[[ITEMS:.*]] = arith.muli
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK:           %[[COLUMN:.*]] = arith.remui %[[I]]
// CHECK:           %[[ROW:.*]] = arith.divui %[[I]]
// CHECK:           memref.load %{{.*}}[%[[ROW]], %[[COLUMN]]]
// CHECK:           memref.store
// CHECK:         llvm.return
// CHECK-NOT:     func.func
func.func private @double.kernel(%x: memref<?x8xf32, strided<[?, 1], offset: ?>>, %out: memref<?x8xf32, strided<[?, 1], offset: ?>>, %work: memref<?xi8>, %threads: index, %call: !llvm.ptr) attributes {attn.ports = [#x, #out]} {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x8xf32, strided<[?, 1], offset: ?>>
  scf.forall (%i, %j) in (%rows, 8) {
    %0 = memref.load %x[%i, %j] : memref<?x8xf32, strided<[?, 1], offset: ?>>
    %1 = arith.addf %0, %0 : f32
    memref.store %1, %out[%i, %j] : memref<?x8xf32, strided<[?, 1], offset: ?>>
  }
  return
}
func.func private @double.flops(%x: memref<?x8xf32, strided<[?, ?], offset: ?>>) -> f64 {
  %0 = arith.constant 0.0 : f64
  return %0 : f64
}

// -----

#x = #attn.port<"x", input [8] : tensor<8xf32>>
#out = #attn.port<"out", output [8] : tensor<8xf32>>

// Memory of an item is there once, in front of the loop.
// CHECK-LABEL: llvm.func @own(
// CHECK:         memref.alloca() {alignment = 16 : i64} : memref<3xf32>
// CHECK:         scf.for
// CHECK-NOT:       memref.alloc
// CHECK:           memref.load
func.func private @own.kernel(%x: memref<8xf32, strided<[1], offset: ?>>, %out: memref<8xf32, strided<[1], offset: ?>>, %work: memref<?xi8>, %threads: index, %call: !llvm.ptr) attributes {attn.ports = [#x, #out]} {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (8) {
    %row = memref.alloc() : memref<3xf32>
    %0 = memref.load %x[%i] : memref<8xf32, strided<[1], offset: ?>>
    memref.store %0, %row[%c0] : memref<3xf32>
    %1 = memref.load %row[%c0] : memref<3xf32>
    memref.store %1, %out[%i] : memref<8xf32, strided<[1], offset: ?>>
  }
  return
}
