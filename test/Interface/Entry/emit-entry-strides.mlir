// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The caller chooses all strides: a kernel that fixes one would read something else.
// RUN: attn-opt %s --attn-emit-entry -verify-diagnostics

// expected-error @+1 {{expects arguments of any strides, but got 'memref<?x4xf32, strided<[?, 1], offset: ?>>'}}
func.func private @f.kernel(%x: memref<?x4xf32, strided<[?, 1], offset: ?>>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr)
    attributes {attn.ports = [#attn.port<"x", input [x0, 4] : tensor<?x4xf32>>]} {
  return
}
func.func private @f.workspace(%x: memref<?x4xf32, strided<[?, 1], offset: ?>>, %threads: index) -> index {
  return %threads : index
}
func.func private @f.flops(%x: memref<?x4xf32, strided<[?, 1], offset: ?>>) -> f64 {
  %zero = arith.constant 0.0 : f64
  return %zero : f64
}
