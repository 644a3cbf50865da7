// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments are checked, the work space is found or allocated, then the kernel runs.
// RUN: attn-opt %s --attn-emit-entry | FileCheck %s

// CHECK: llvm.func @f(%
// CHECK: llvm.call @f.check_shapes
// CHECK: call @f.workspace(
// CHECK: llvm.call @attn_rt_take_workspace(
// CHECK: call @f.kernel(
// CHECK: llvm.call @attn_rt_give_workspace(
// CHECK: llvm.return
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
