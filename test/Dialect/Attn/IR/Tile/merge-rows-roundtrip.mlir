// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Into memrefs without results, into tensors with.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: func @memrefs
// CHECK: attn.merge_rows %{{.*}}, %{{.*}}, %{{.*}} with %{{.*}}, %{{.*}}, %{{.*}} outs(%{{.*}}, %{{.*}}, %{{.*}} : memref<?xf32>, memref<?xf32>, memref<?x8xf32>) {schedule = #attn.cpu_schedule<{{.*}}>} : memref<?xf32>, memref<?xf32>, memref<?x8xf32> with memref<?xf32>, memref<?xf32>, memref<?x8xf32>{{$}}
func.func @memrefs(%m: memref<?xf32>, %l: memref<?xf32>, %a: memref<?x8xf32>) {
  attn.merge_rows %m, %l, %a with %m, %l, %a outs(%m, %l, %a : memref<?xf32>, memref<?xf32>, memref<?x8xf32>) {schedule = #s}
      : memref<?xf32>, memref<?xf32>, memref<?x8xf32> with memref<?xf32>, memref<?xf32>, memref<?x8xf32>
  return
}

// CHECK-LABEL: func @tensors
// CHECK: attn.merge_rows {{.*}} with tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64> -> tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64>
func.func @tensors(%m: tensor<?xf64>, %a: tensor<?x8xf64>) -> tensor<?x8xf64> {
  %r:3 = attn.merge_rows %m, %m, %a with %m, %m, %a outs(%m, %m, %a : tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64>) {schedule = #s}
      : tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64> with tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64> -> tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64>
  return %r#2 : tensor<?x8xf64>
}
