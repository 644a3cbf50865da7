// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Into memrefs without results, into tensors with.
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

// CHECK-LABEL: func @memrefs
// CHECK: attn.combine %{{.*}} outs(%{{.*}}, %{{.*}} : memref<?x8xf32>, memref<?xf32>) {schedule = #attn.cpu_schedule<{{.*}}>} : memref<?x?x10xf32>{{$}}
func.func @memrefs(%p: memref<?x?x10xf32>, %o: memref<?x8xf32>, %l: memref<?xf32>) {
  attn.combine %p outs(%o, %l : memref<?x8xf32>, memref<?xf32>) {schedule = #d} : memref<?x?x10xf32>
  return
}

// CHECK-LABEL: func @tensor
// CHECK: attn.combine %{{.*}} outs(%{{.*}} : tensor<?x8xf16>) {schedule = #attn.cpu_schedule<{{.*}}>} : tensor<?x?x10xf32> -> tensor<?x8xf16>
func.func @tensor(%p: tensor<?x?x10xf32>, %o: tensor<?x8xf16>) -> tensor<?x8xf16> {
  %r = attn.combine %p outs(%o : tensor<?x8xf16>) {schedule = #d} : tensor<?x?x10xf32> -> tensor<?x8xf16>
  return %r : tensor<?x8xf16>
}

// CHECK-LABEL: func @sink
// CHECK: attn.combine %{{.*}} sink %{{.*}} : f32 outs(%{{.*}}, %{{.*}} : tensor<?x8xf16>, tensor<?xf32>) {schedule = #attn.cpu_schedule<{{.*}}>} : tensor<?x?x10xf32> -> tensor<?x8xf16>, tensor<?xf32>
func.func @sink(%p: tensor<?x?x10xf32>, %s: f32, %o: tensor<?x8xf16>, %l: tensor<?xf32>) -> (tensor<?x8xf16>, tensor<?xf32>) {
  %r:2 = attn.combine %p sink %s : f32 outs(%o, %l : tensor<?x8xf16>, tensor<?xf32>) {schedule = #d} : tensor<?x?x10xf32> -> tensor<?x8xf16>, tensor<?xf32>
  return %r#0, %r#1 : tensor<?x8xf16>, tensor<?xf32>
}
