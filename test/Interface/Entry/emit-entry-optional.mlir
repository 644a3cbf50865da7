// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An argument that is left out gets the sizes of others, strides of 0 and the address of zeros, in a copy of the argument struct.
// RUN: attn-opt %s --attn-emit-entry | FileCheck %s

// CHECK-LABEL: llvm.func @f(%arg0: !llvm.ptr) -> i32
// CHECK: %[[ROOM:.*]] = llvm.alloca
// CHECK: %[[ARGS:.*]] = llvm.call @f.fill_absent(%arg0, %[[ROOM]])
// CHECK: llvm.call @f.check_shapes(%[[ARGS]])
// CHECK-LABEL: llvm.func internal @f.fill_absent(%arg0: !llvm.ptr, %arg1: !llvm.ptr) -> !llvm.ptr
// CHECK: llvm.return %arg0
// CHECK: "llvm.intr.memcpy"(%arg1, %arg0
// CHECK: %[[ABSENT:.*]] = llvm.icmp "eq"
// CHECK: llvm.select %[[ABSENT]], %{{.*}}, %{{.*}} : i1, !llvm.ptr
// CHECK-COUNT-4: llvm.select %[[ABSENT]], %{{.*}}, %{{.*}} : i1, i64
// CHECK-NOT: llvm.select
// CHECK: llvm.return %arg1
// CHECK: llvm.mlir.global private constant @f.zeros({{.*}}{{.*}}alignment = 64
// CHECK-LABEL: llvm.func @f_workspace_size
// CHECK: llvm.call @f.fill_absent
// CHECK-LABEL: llvm.func @f_flops
// CHECK: llvm.call @f.fill_absent
func.func private @f.kernel(%x: memref<?x4xf32, strided<[?, ?], offset: ?>>, %y: memref<?x4xf32, strided<[?, ?], offset: ?>>, %o: memref<?x4xf32, strided<[?, ?], offset: ?>>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr)
    attributes {attn.ports = [
      #attn.port<"x", input [x0, 4] : tensor<?x4xf32>>,
      #attn.port<"y", input [x0, 4] : tensor<?x4xf32>, optional>,
      #attn.port<"out", output [x0, 4] : tensor<?x4xf32>>]} {
  return
}
func.func private @f.workspace(%x: memref<?x4xf32, strided<[?, ?], offset: ?>>, %y: memref<?x4xf32, strided<[?, ?], offset: ?>>, %o: memref<?x4xf32, strided<[?, ?], offset: ?>>, %threads: index) -> index {
  return %threads : index
}
func.func private @f.flops(%x: memref<?x4xf32, strided<[?, ?], offset: ?>>, %y: memref<?x4xf32, strided<[?, ?], offset: ?>>) -> f64 {
  %zero = arith.constant 0.0 : f64
  return %zero : f64
}
