// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The last index of a loop runs fastest: item = (i * 5 + j) * m + k. The bound of the
// first index is not needed.
// RUN: attn-opt %s --attn-outline-parallel | FileCheck %s

// CHECK: func.func private @f.items(%{{.*}}: !llvm.ptr, %[[ITEM:.*]]: i64,
// CHECK: %[[M:.*]] = builtin.unrealized_conversion_cast %{{.*}} : i64 to index
// CHECK: %[[X:.*]] = arith.index_cast %[[ITEM]] : i64 to index
// CHECK: %[[K:.*]] = arith.remui %[[X]], %[[BOUND:.*]] :
// CHECK: %[[Y:.*]] = arith.divui %[[X]], %[[BOUND]]
// CHECK: %[[J:.*]] = arith.remui %[[Y]], %[[FIVE:.*]] :
// CHECK: %[[I:.*]] = arith.divui %[[Y]], %[[FIVE]]
// CHECK: memref.load %{{.*}}[%[[I]], %[[J]]]
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[K]], %[[J]]]
func.func private @f.kernel(%x: memref<?x?xf32>, %o: memref<?x?xf32>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  scf.forall (%i, %j, %k) in (%n, 5, %m) {
    %v = memref.load %x[%i, %j] : memref<?x?xf32>
    memref.store %v, %o[%k, %j] : memref<?x?xf32>
  }
  return
}
