// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The body of a parallel loop is a function of captures, item and worker; the loop
// is one call of the caller's parallel_for with the number of items, and with no
// more threads than that.
// RUN: attn-opt %s --attn-outline-parallel | FileCheck %s

// CHECK: func.func private @f.items(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i32) {
// CHECK: memref.store
// CHECK: func.func private @f.kernel
// CHECK-NOT: scf.forall
// CHECK: %[[ROWS:.*]] = arith.muli %{{.*}}, %{{.*}} : index
// CHECK: %[[ITEMS:.*]] = arith.muli %[[ROWS]], %{{.*}} : index
// CHECK: %[[CAPTURES:.*]] = llvm.alloca
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %arg4[16]
// CHECK-NEXT: %[[PARALLEL_FOR:.*]] = llvm.load %[[FIELD]]
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %arg4[24]
// CHECK-NEXT: %[[CONTEXT:.*]] = llvm.load %[[FIELD]]
// CHECK: constant @f.items
// CHECK: %[[N:.*]] = arith.index_cast %[[ITEMS]] : index to i64
// CHECK: %[[WORKERS:.*]] = arith.minui %arg3, %[[ITEMS]] : index
// CHECK: %[[ONE:.*]] = arith.maxui %[[WORKERS]], %{{.*}} : index
// CHECK: %[[THREADS:.*]] = arith.index_cast %[[ONE]] : index to i32
// CHECK: llvm.call %[[PARALLEL_FOR]](%[[CONTEXT]], %[[N]], %[[THREADS]], %{{.*}}, %[[CAPTURES]])
func.func private @f.kernel(%x: memref<?x?xf32>, %o: memref<?x?xf32>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  scf.forall (%i, %j) in (%n, %m) {
    %v = memref.load %x[%i, %j] : memref<?x?xf32>
    memref.store %v, %o[%i, %j] : memref<?x?xf32>
  }
  return
}
