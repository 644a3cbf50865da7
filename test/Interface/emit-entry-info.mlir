// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text of NAME_info is an option of the pass.
// RUN: attn-opt %s --attn-emit-entry="info=hello" | FileCheck %s

// CHECK: llvm.mlir.global private constant @f.info("hello\00")
// CHECK: llvm.func @f_info()
// CHECK: llvm.mlir.addressof @f.info
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
