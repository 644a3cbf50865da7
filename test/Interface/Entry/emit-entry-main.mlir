// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With emit-main a main passes a description of the program to the runtime.
// RUN: attn-opt %s --attn-emit-entry=emit-main | FileCheck %s

// CHECK: llvm.mlir.global internal constant @f.program()
// CHECK: llvm.func @main(%[[C:.*]]: i32, %[[V:.*]]: !llvm.ptr) -> i32
// CHECK: %[[P:.*]] = llvm.mlir.addressof @f.program
// CHECK: llvm.call @attn_rt_main(%[[P]], %[[C]], %[[V]])
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
