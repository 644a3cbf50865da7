// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel gets five functions that C sees; the rest is private to the object.
// RUN: attn-opt %s --attn-emit-entry | FileCheck %s

// CHECK-DAG: func.func private @f.kernel({{.*}}llvm.linkage = #llvm.linkage<internal>
// CHECK-DAG: func.func private @f.workspace({{.*}}llvm.linkage = #llvm.linkage<internal>
// CHECK-DAG: func.func private @f.flops({{.*}}llvm.linkage = #llvm.linkage<internal>
// CHECK-DAG: llvm.func @f(%{{.*}}: !llvm.ptr) -> i32
// CHECK-DAG: llvm.func @f_workspace_size(%{{.*}}: !llvm.ptr) -> i64
// CHECK-DAG: llvm.func @f_flops(%{{.*}}: !llvm.ptr) -> f64
// CHECK-DAG: llvm.func @f_strerror(%{{.*}}: i32) -> !llvm.ptr
// CHECK-DAG: llvm.func @f_info() -> !llvm.ptr
// CHECK-NOT: llvm.func @main
func.func private @f.kernel(%x: memref<?x4xf32, strided<[?, ?], offset: ?>>, %o: memref<?x4xf32, strided<[?, ?], offset: ?>>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr)
    attributes {attn.ports = [
      #attn.port<"x", input [x0, 4] : tensor<?x4xf32>>,
      #attn.port<"out", output [x0, 4] : tensor<?x4xf32>>]} {
  return
}
func.func private @f.workspace(%x: memref<?x4xf32, strided<[?, ?], offset: ?>>, %o: memref<?x4xf32, strided<[?, ?], offset: ?>>, %threads: index) -> index {
  return %threads : index
}
func.func private @f.flops(%x: memref<?x4xf32, strided<[?, ?], offset: ?>>) -> f64 {
  %zero = arith.constant 0.0 : f64
  return %zero : f64
}
