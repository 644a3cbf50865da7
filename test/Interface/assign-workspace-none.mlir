// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel without buffers needs no work space.
// RUN: attn-opt %s --attn-assign-workspace --attn-outline-parallel --canonicalize | FileCheck %s

// CHECK: func.func private @f.workspace(
// CHECK: return %c0
func.func private @f.kernel(%x: memref<?x?xf32>, %o: memref<?x?xf32>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  return
}
