// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers of an item lie in its worker's region, each at a multiple of 64 bytes:
// 28 bytes take 64, so two take 128. The size is the number of workers times that,
// and there are no more workers than items.
// RUN: attn-opt %s --attn-assign-workspace --attn-outline-parallel --canonicalize | FileCheck %s

// CHECK: func.func private @f.items(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %[[WORKER:.*]]: i32)
// CHECK: %[[WS:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<?xi8>
// CHECK-NOT: memref.alloc
// CHECK: %[[W:.*]] = arith.index_castui %[[WORKER]] : i32 to index
// CHECK: %[[AT:.*]] = arith.muli %[[W]], %c128
// CHECK: memref.view %[[WS]][%[[AT]]][] : memref<?xi8> to memref<7xf32>
// CHECK: %[[NEXT:.*]] = arith.addi %{{.*}}, %c64
// CHECK: memref.view %[[WS]][%[[NEXT]]][] : memref<?xi8> to memref<2xf32>
// CHECK: func.func private @f.workspace(%[[X:.*]]: memref<?x?xf32>, {{.*}}, %[[THREADS:.*]]: index) -> index
// CHECK: %[[ITEMS:.*]] = memref.dim %[[X]], %c0
// CHECK: %[[WORKERS:.*]] = arith.minui %[[THREADS]], %[[ITEMS]]
// CHECK: %[[BYTES:.*]] = arith.muli %[[WORKERS]], %c128
// CHECK-NEXT: return %[[BYTES]]
// CHECK-NOT: @attn.worker
func.func private @f.kernel(%x: memref<?x?xf32>, %o: memref<?x?xf32>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %one = arith.constant 1.0 : f32
  scf.forall (%i) in (%n) {
    %t = memref.alloc() : memref<7xf32>
    %u = memref.alloc() : memref<2xf32>
    memref.store %one, %t[%c0] : memref<7xf32>
    memref.store %one, %u[%c0] : memref<2xf32>
  }
  return
}
