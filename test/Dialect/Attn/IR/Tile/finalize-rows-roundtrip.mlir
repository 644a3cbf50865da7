// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With lse and without; into memrefs without results, into tensors with.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: func @memrefs
// CHECK: attn.finalize_rows %{{.*}}, %{{.*}}, %{{.*}} outs(%{{.*}}, %{{.*}} : memref<?x8xf16>, memref<?xf32>) {schedule = #attn.cpu_schedule<{{.*}}>} : memref<?xf32>, memref<?xf32>, memref<?x8xf32>{{$}}
func.func @memrefs(%m: memref<?xf32>, %a: memref<?x8xf32>, %o: memref<?x8xf16>, %e: memref<?xf32>) {
  attn.finalize_rows %m, %m, %a outs(%o, %e : memref<?x8xf16>, memref<?xf32>) {schedule = #s} : memref<?xf32>, memref<?xf32>, memref<?x8xf32>
  return
}

// CHECK-LABEL: func @tensors
// CHECK: attn.finalize_rows %{{.*}}, %{{.*}}, %{{.*}} outs(%{{.*}} : tensor<?x8xf64>) {{.*}} : tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64> -> tensor<?x8xf64>
func.func @tensors(%m: tensor<?xf64>, %a: tensor<?x8xf64>, %o: tensor<?x8xf64>) -> tensor<?x8xf64> {
  %r = attn.finalize_rows %m, %m, %a outs(%o : tensor<?x8xf64>) {schedule = #s} : tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64> -> tensor<?x8xf64>
  return %r : tensor<?x8xf64>
}
