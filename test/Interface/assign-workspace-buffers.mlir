// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers between loops lie behind the regions of all workers, one after the other,
// rounded up to 64 bytes. Both are needed to the end here.
// RUN: attn-opt %s --attn-assign-workspace --canonicalize --cse | FileCheck %s

// CHECK: func.func private @f.workspace(%[[X:.*]]: memref<?x?xf32>, %{{.*}}: memref<?x?xf32>, %[[THREADS:.*]]: index) -> index
// CHECK: %[[N:.*]] = memref.dim %[[X]], %c0
// CHECK: %[[B:.*]] = arith.muli %[[N]], %c16
// CHECK: %[[UP:.*]] = arith.addi %[[B]], %c63
// CHECK: %[[UNITS:.*]] = arith.divui %[[UP]], %c64
// CHECK: %[[SIZE:.*]] = arith.muli %[[UNITS]], %c64
// CHECK: %[[TOTAL:.*]] = arith.addi %[[SIZE]], %c64
// CHECK-NEXT: return %[[TOTAL]]
// CHECK: func.func private @f.kernel
// CHECK-NOT: memref.alloc
// CHECK: memref.view %arg2[%c0][%{{.*}}] : memref<?xi8> to memref<?x4xf32>
// CHECK: memref.view %arg2[%{{.*}}][] : memref<?xi8> to memref<3xf32>
func.func private @f.kernel(%x: memref<?x?xf32>, %o: memref<?x?xf32>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %one = arith.constant 1.0 : f32
  %a = memref.alloc(%n) : memref<?x4xf32>
  %b = memref.alloc() : memref<3xf32>
  memref.store %one, %a[%c0, %c0] : memref<?x4xf32>
  memref.store %one, %b[%c0] : memref<3xf32>
  %y = memref.load %a[%c0, %c0] : memref<?x4xf32>
  %z = memref.load %b[%c0] : memref<3xf32>
  %sum = arith.addf %y, %z : f32
  memref.store %sum, %o[%c0, %c0] : memref<?x?xf32>
  return
}
