// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a launch passes and what a kernel takes are the same: of a memref the
// address, then the sizes and strides that its type leaves open.
//
// RUN: attn-opt %s --attn-lower-gpu-launches --attn-lower-gpu-functions --split-input-file | FileCheck %s

// CHECK-NOT:   gpu.
// CHECK:       module @kernels {
// CHECK:         llvm.func @k(%[[X:.*]]: !llvm.ptr, %[[SIZE:.*]]: i64, %[[STRIDE:.*]]: i64, %[[N:.*]]: i64, %[[F:.*]]: f32)
// CHECK-SAME:      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>}
// CHECK:           %[[S0:.*]] = llvm.insertvalue %[[SIZE]], %{{.*}}[3, 0]
// CHECK:           %[[S1:.*]] = llvm.insertvalue %{{.*}}, %[[S0]][3, 1]
// CHECK:           %[[S2:.*]] = llvm.insertvalue %[[STRIDE]], %[[S1]][4, 0]
// CHECK:           %[[VIEW:.*]] = builtin.unrealized_conversion_cast
// CHECK:           nvvm.read.ptx.sreg.tid.y
// CHECK:           nvvm.barrier
// CHECK:           memref.store %[[F]], %[[VIEW]]
// CHECK:           llvm.return
// CHECK:         llvm.func @second(
// CHECK-LABEL: func.func private @f.kernel(
// CHECK-SAME:    %[[MEM:[a-z0-9]*]]: memref<?x8xf32, strided<[?, 1], offset: ?>>, %[[COUNT:[a-z0-9]*]]: index,
// CHECK-SAME:    %[[CALL:[a-z0-9]*]]: !llvm.ptr)
// CHECK-DAG:     %[[ROOM:.*]] = llvm.alloca
// CHECK:         memref.extract_aligned_pointer_as_index %[[MEM]]
// CHECK:         memref.extract_strided_metadata %[[MEM]]
// CHECK-DAG:     llvm.mlir.constant(0 : i32)
// CHECK-DAG:     llvm.mlir.constant(5 : i32)
// CHECK:         llvm.store %{{.*}}, %{{.*}} : f32, !llvm.ptr
// CHECK:         llvm.call @attn_rt_gpu_launch(%[[CALL]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
// The second kernel, which reads a constant: its copy on the device.
// CHECK:         %[[HOST:.*]] = memref.get_global @table
// CHECK:         %[[THERE:.*]] = llvm.call @attn_rt_gpu_constant(%[[CALL]], %{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
// CHECK:         llvm.insertvalue %[[THERE]]
// CHECK:         llvm.mlir.constant(1 : i32)
// CHECK:         llvm.call @attn_rt_gpu_launch
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%x: memref<?x8xf32, strided<[?, 1], offset: ?>>, %n: index, %f: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %i = gpu.thread_id y
      gpu.barrier
      memref.store %f, %x[%i, %n] : memref<?x8xf32, strided<[?, 1], offset: ?>>
      gpu.return
    }
    gpu.func @second(%x: memref<4xf32>) kernel {
      gpu.return
    }
  }
  memref.global "private" constant @table : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
  func.func private @f.kernel(%x: memref<?x8xf32, strided<[?, 1], offset: ?>>, %n: index, %work: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %f = arith.constant 2.0 : f32
    gpu.launch_func @kernels::@k blocks in (%n, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<?x8xf32, strided<[?, 1], offset: ?>>, %n : index, %f : f32)
    %table = memref.get_global @table : memref<4xf32>
    gpu.launch_func @kernels::@second blocks in (%n, %c1, %c1) threads in (%c64, %c1, %c1) args(%table : memref<4xf32>)
    return
  }
}
