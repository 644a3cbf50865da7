// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One tile of a projection, with and without bias, and with a weight in panels.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: func @memrefs
// CHECK: attn.project_tile %{{.*}}, %{{.*}} outs(%{{.*}} : memref<?x?xf32>) {schedule = #attn.cpu_schedule<{{.*}}>} : memref<?x4xf32>, memref<4x?xf32>{{$}}
func.func @memrefs(%x: memref<?x4xf32>, %w: memref<4x?xf32>, %o: memref<?x?xf32>) {
  attn.project_tile %x, %w outs(%o : memref<?x?xf32>) {schedule = #s} : memref<?x4xf32>, memref<4x?xf32>
  return
}

// CHECK-LABEL: func @tensors
// CHECK: attn.project_tile %{{.*}}, %{{.*}} bias %{{.*}} : tensor<3xf32> outs(%{{.*}} : tensor<2x3xf32>) {schedule = #attn.cpu_schedule<{{.*}}>} : tensor<2x4xf32>, tensor<4x3xf32> -> tensor<2x3xf32>
func.func @tensors(%x: tensor<2x4xf32>, %w: tensor<4x3xf32>, %b: tensor<3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = attn.project_tile %x, %w bias %b : tensor<3xf32> outs(%o : tensor<2x3xf32>) {schedule = #s} : tensor<2x4xf32>, tensor<4x3xf32> -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @panels
// CHECK: attn.project_tile %{{.*}}, %{{.*}} outs(%{{.*}} : memref<?x7xf32>) {schedule = #attn.cpu_schedule<{{.*}}>} : memref<?x4xf32>, memref<2x4x4xf32>{{$}}
func.func @panels(%x: memref<?x4xf32>, %w: memref<2x4x4xf32>, %o: memref<?x7xf32>) {
  attn.project_tile %x, %w outs(%o : memref<?x7xf32>) {schedule = #s} : memref<?x4xf32>, memref<2x4x4xf32>
  return
}

// CHECK-LABEL: func @transposed
// CHECK: attn.project_tile %{{.*}}, %{{.*}} transposed bias %{{.*}} : memref<7xf32> outs(
func.func @transposed(%x: memref<?x4xf32>, %w: memref<7x4xf32>, %b: memref<7xf32>, %o: memref<?x7xf32>) {
  attn.project_tile %x, %w transposed bias %b : memref<7xf32> outs(%o : memref<?x7xf32>) {schedule = #s} : memref<?x4xf32>, memref<7x4xf32>
  return
}
