// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NAME_info returns the JSON object that is an option of the pass, and in it the arguments and results of every function.
// RUN: attn-opt %s --attn-emit-entry='info={{"input":"here"}}' | FileCheck %s
// RUN: attn-opt %s --attn-emit-entry | FileCheck %s --check-prefix=NONE

// CHECK: llvm.mlir.global private constant @f.info("{
// CHECK-SAME: \22functions\22:{\22f\22:{
// CHECK-SAME: \22arguments\22:[{\22name\22:\22x\22,\22shape\22:[\22x0\22,4],\22type\22:\22f32\22}],
// CHECK-SAME: \22results\22:[{\22name\22:\22out\22,\22shape\22:[\22x0\22,4],\22type\22:\22f32\22}]}},
// CHECK-SAME: \22input\22:\22here\22}\00")
// NONE: llvm.mlir.global private constant @f.info("{\22functions\22:{
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
