// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Panels of a weight, and of a transposed one.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: func @memrefs
// CHECK: attn.pack_panels %{{.*}} outs(%{{.*}} : memref<2x6x4xf32>) {schedule = #attn.cpu_schedule<{{.*}}>} : memref<6x7xf32>{{$}}
func.func @memrefs(%w: memref<6x7xf32>, %p: memref<2x6x4xf32>) {
  attn.pack_panels %w outs(%p : memref<2x6x4xf32>) {schedule = #s} : memref<6x7xf32>
  return
}

// CHECK-LABEL: func @tensors
// CHECK: attn.pack_panels %{{.*}} transposed outs(%{{.*}} : tensor<?x6x4xf32>) {schedule = #attn.cpu_schedule<{{.*}}>} : tensor<7x6xf32> -> tensor<?x6x4xf32>
func.func @tensors(%w: tensor<7x6xf32>, %p: tensor<?x6x4xf32>) -> tensor<?x6x4xf32> {
  %r = attn.pack_panels %w transposed outs(%p : tensor<?x6x4xf32>) {schedule = #s} : tensor<7x6xf32> -> tensor<?x6x4xf32>
  return %r : tensor<?x6x4xf32>
}
