// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A table without elements is refused where there is somebody to read it, behind all other rules for shapes.
// RUN: attn-opt %s --attn-emit-entry | FileCheck %s

// CHECK: llvm.func internal @f.check_shapes(
// CHECK: %[[NO:.*]] = llvm.mlir.constant(false)
// CHECK: %[[READERS:.*]] = llvm.load
// CHECK: %[[SOME:.*]] = llvm.icmp "ne" %[[READERS]], %{{.*}} : i64
// CHECK: %[[READ:.*]] = llvm.and %{{.*}}, %[[SOME]]
// CHECK: %[[IS_READ:.*]] = llvm.or %[[NO]], %[[READ]]
// CHECK: %[[SIZE:.*]] = llvm.load
// CHECK: %[[THERE:.*]] = llvm.icmp "ne" %[[SIZE]], %{{.*}} : i64
// CHECK: %[[ELEMENTS:.*]] = llvm.and %{{.*}}, %[[THERE]]
// CHECK: %[[BROKEN:.*]] = llvm.select %[[ELEMENTS]], %[[NO]], %[[IS_READ]]
// CHECK: llvm.select %[[BROKEN]]
// CHECK: attn.statuses = [{{.*}}"out: dimension 0 is not the same as x's dimension 0", "table: has no element", "x: data is null"
func.func private @f.kernel(%x: memref<?xf32, strided<[?], offset: ?>>, %t: memref<?xf32, strided<[?], offset: ?>>, %o: memref<?xf32, strided<[?], offset: ?>>,
    %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr)
    attributes {attn.ports = [
      #attn.port<"x", input [x0] : tensor<?xf32>>,
      #attn.port<"table", input [table0] : tensor<?xf32>, not_empty [[x0]]>,
      #attn.port<"out", output [x0] : tensor<?xf32>>]} {
  return
}
func.func private @f.workspace(%x: memref<?xf32, strided<[?], offset: ?>>, %t: memref<?xf32, strided<[?], offset: ?>>, %o: memref<?xf32, strided<[?], offset: ?>>, %threads: index) -> index {
  return %threads : index
}
func.func private @f.flops(%x: memref<?xf32, strided<[?], offset: ?>>, %t: memref<?xf32, strided<[?], offset: ?>>) -> f64 {
  %zero = arith.constant 0.0 : f64
  return %zero : f64
}
