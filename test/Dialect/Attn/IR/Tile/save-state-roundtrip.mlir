// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Into memrefs without results, into tensors with.
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

// CHECK-LABEL: func @memref
// CHECK: attn.save_state %{{.*}} outs(%{{.*}} : memref<?x10xf32>) {schedule = #attn.cpu_schedule<{{.*}}, kind = decode, split_keys = 64>} : <16 x 4 x 8, f32, decode>{{$}}
func.func @memref(%s: !attn.state<16 x 4 x 8, f32, decode>, %p: memref<?x10xf32>) {
  attn.save_state %s outs(%p : memref<?x10xf32>) {schedule = #d} : !attn.state<16 x 4 x 8, f32, decode>
  return
}

// CHECK-LABEL: func @tensor
// CHECK: attn.save_state %{{.*}} outs(%{{.*}} : tensor<?x10xf32>) {schedule = #attn.cpu_schedule<{{.*}}>} : <16 x 4 x 8, f32, decode> -> tensor<?x10xf32>
func.func @tensor(%s: !attn.state<16 x 4 x 8, f32, decode>, %p: tensor<?x10xf32>) -> tensor<?x10xf32> {
  %r = attn.save_state %s outs(%p : tensor<?x10xf32>) {schedule = #d} : !attn.state<16 x 4 x 8, f32, decode> -> tensor<?x10xf32>
  return %r : tensor<?x10xf32>
}
