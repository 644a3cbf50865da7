// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Into memrefs without results, into tensors with.
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

// CHECK-LABEL: func @memrefs
// CHECK: attn.combine_state %{{.*}} outs(%{{.*}}, %{{.*}}, %{{.*}} : memref<?xf32>, memref<?xf32>, memref<?x8xf32>) {schedule = #attn.cpu_schedule<{{.*}}>} : memref<?x?x10xf32>{{$}}
func.func @memrefs(%p: memref<?x?x10xf32>, %m: memref<?xf32>, %l: memref<?xf32>, %a: memref<?x8xf32>) {
  attn.combine_state %p outs(%m, %l, %a : memref<?xf32>, memref<?xf32>, memref<?x8xf32>) {schedule = #d} : memref<?x?x10xf32>
  return
}

// CHECK-LABEL: func @tensors
// CHECK: attn.combine_state %{{.*}} outs(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64>) {{.*}} : tensor<?x?x10xf64> -> tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64>
func.func @tensors(%p: tensor<?x?x10xf64>, %m: tensor<?xf64>, %a: tensor<?x8xf64>) -> tensor<?x8xf64> {
  %r:3 = attn.combine_state %p outs(%m, %m, %a : tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64>) {schedule = #d} : tensor<?x?x10xf64> -> tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64>
  return %r#2 : tensor<?x8xf64>
}
