// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Into a memref without a result, into a tensor with one.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: func @memref
// CHECK: attn.finalize_difference %{{.*}}, %{{.*}} by %{{.*}} outs(%{{.*}} : memref<?x8xf32>) {schedule = #attn.cpu_schedule<{{.*}}>} : <16 x 4 x 8, f32>, f32{{$}}
func.func @memref(%a: !attn.state<16 x 4 x 8, f32>, %b: !attn.state<16 x 4 x 8, f32>, %l: f32, %o: memref<?x8xf32>) {
  attn.finalize_difference %a, %b by %l outs(%o : memref<?x8xf32>) {schedule = #s} : !attn.state<16 x 4 x 8, f32>, f32
  return
}

// CHECK-LABEL: func @tensor
// CHECK: attn.finalize_difference %{{.*}}, %{{.*}} by %{{.*}} outs(%{{.*}} : tensor<?x8xf16>) {schedule = #attn.cpu_schedule<{{.*}}>} : <16 x 4 x 8, f32>, f32 -> tensor<?x8xf16>
func.func @tensor(%a: !attn.state<16 x 4 x 8, f32>, %b: !attn.state<16 x 4 x 8, f32>, %l: f32, %o: tensor<?x8xf16>) -> tensor<?x8xf16> {
  %r = attn.finalize_difference %a, %b by %l outs(%o : tensor<?x8xf16>) {schedule = #s} : !attn.state<16 x 4 x 8, f32>, f32 -> tensor<?x8xf16>
  return %r : tensor<?x8xf16>
}
