// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Into memrefs without results, into tensors with.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: func @memrefs
// CHECK: attn.finalize %{{.*}} outs(%{{.*}}, %{{.*}} : memref<?x8xf32>, memref<?xf32>) {schedule = #attn.cpu_schedule<{{.*}}>} : <16 x 4 x 8, f32>{{$}}
func.func @memrefs(%s: !attn.state<16 x 4 x 8, f32>, %o: memref<?x8xf32>, %l: memref<?xf32>) {
  attn.finalize %s outs(%o, %l : memref<?x8xf32>, memref<?xf32>) {schedule = #s} : !attn.state<16 x 4 x 8, f32>
  return
}

// CHECK-LABEL: func @tensor
// CHECK: attn.finalize %{{.*}} outs(%{{.*}} : tensor<?x8xf16>) {schedule = #attn.cpu_schedule<{{.*}}>} : <16 x 4 x 8, f32> -> tensor<?x8xf16>
func.func @tensor(%s: !attn.state<16 x 4 x 8, f32>, %o: tensor<?x8xf16>) -> tensor<?x8xf16> {
  %r = attn.finalize %s outs(%o : tensor<?x8xf16>) {schedule = #s} : !attn.state<16 x 4 x 8, f32> -> tensor<?x8xf16>
  return %r : tensor<?x8xf16>
}
