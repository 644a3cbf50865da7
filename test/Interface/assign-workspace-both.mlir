// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An item's region is sized for the largest of all loops; buffers between the loops
// follow behind the regions of all workers.
// RUN: attn-opt %s --attn-assign-workspace --attn-outline-parallel --canonicalize | FileCheck %s

// CHECK-DAG: memref.view %{{.*}}[%{{.*}}][] : memref<?xi8> to memref<100xf32>
// CHECK-DAG: memref.view %{{.*}}[%{{.*}}][] : memref<?xi8> to memref<7xf32>
// CHECK: func.func private @f.workspace({{.*}}, %[[THREADS:.*]]: index) -> index
// CHECK: %[[WORKERS:.*]] = arith.minui %[[THREADS]], %{{.*}} : index
// CHECK: %[[ALL:.*]] = arith.muli %[[WORKERS]], %c448
// CHECK: arith.addi %[[ALL]], %c64
// CHECK: func.func private @f.kernel(
// CHECK: %[[WORKERS:.*]] = arith.minui %arg3, %{{.*}} : index
// CHECK: %[[BEHIND:.*]] = arith.muli %[[WORKERS]], %c448
// CHECK: memref.view %arg2[%[[BEHIND]]][] : memref<?xi8> to memref<3xf32>
func.func private @f.kernel(%x: memref<?x?xf32>, %o: memref<?x?xf32>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %one = arith.constant 1.0 : f32
  %b = memref.alloc() : memref<3xf32>
  scf.forall (%i) in (%n) {
    %t = memref.alloc() : memref<7xf32>
    memref.store %one, %t[%c0] : memref<7xf32>
    memref.store %one, %b[%c0] : memref<3xf32>
  }
  scf.forall (%i) in (%n) {
    %t = memref.alloc() : memref<100xf32>
    memref.store %one, %t[%c0] : memref<100xf32>
  }
  return
}
