// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values from outside travel in a struct: the work space first, then buffers as
// descriptors and numbers. Each is stored once and loaded once per item.
// RUN: attn-opt %s --attn-outline-parallel | FileCheck %s

// CHECK: func.func private @f.items(%[[C:.*]]: !llvm.ptr,
// CHECK: llvm.getelementptr %[[C]][0, 0]
// CHECK: builtin.unrealized_conversion_cast %{{.*}} to memref<?xi8>
// CHECK: llvm.getelementptr %[[C]][0, 1]
// CHECK: builtin.unrealized_conversion_cast %{{.*}} : i64 to index
// CHECK: llvm.getelementptr %[[C]][0, 2]
// CHECK: builtin.unrealized_conversion_cast %{{.*}} to memref<?x?xf32>
// CHECK-NOT: llvm.getelementptr %[[C]][0, 4]
// CHECK: func.func private @f.kernel
// CHECK: builtin.unrealized_conversion_cast %arg2 : memref<?xi8>
// CHECK: builtin.unrealized_conversion_cast %{{.*}} : index to i64
// CHECK: builtin.unrealized_conversion_cast %arg1 : memref<?x?xf32>
func.func private @f.kernel(%x: memref<?x?xf32>, %o: memref<?x?xf32>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  scf.forall (%i, %j) in (%n, 4) {
    %v = arith.index_cast %m : index to i32
    %w = arith.sitofp %v : i32 to f32
    memref.store %w, %o[%i, %j] : memref<?x?xf32>
    memref.store %w, %o[%j, %i] : memref<?x?xf32>
  }
  return
}
