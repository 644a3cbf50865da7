// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Into memrefs without results, into tensors with.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: func @memrefs
// CHECK: attn.return_state %{{.*}} outs(%{{.*}}, %{{.*}}, %{{.*}} : memref<?xf32>, memref<?xf32>, memref<?x8xf32>) {schedule = #attn.cpu_schedule<{{.*}}>} : <16 x 4 x 8, f32>{{$}}
func.func @memrefs(%s: !attn.state<16 x 4 x 8, f32>, %m: memref<?xf32>, %l: memref<?xf32>, %a: memref<?x8xf32>) {
  attn.return_state %s outs(%m, %l, %a : memref<?xf32>, memref<?xf32>, memref<?x8xf32>) {schedule = #s} : !attn.state<16 x 4 x 8, f32>
  return
}

// CHECK-LABEL: func @tensors
// CHECK: attn.return_state %{{.*}} outs(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64>) {{.*}} : <16 x 4 x 8, f64> -> tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64>
func.func @tensors(%s: !attn.state<16 x 4 x 8, f64>, %m: tensor<?xf64>, %a: tensor<?x8xf64>) -> tensor<?x8xf64> {
  %r:3 = attn.return_state %s outs(%m, %m, %a : tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64>) {schedule = #s} : !attn.state<16 x 4 x 8, f64> -> tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64>
  return %r#2 : tensor<?x8xf64>
}
