// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The size of a buffer in an item is replaced by a bound that is known before the
// loop: at most 128 rows here, whatever is left of the last tile. Buffers of known
// size lie before it.
// RUN: attn-opt %s --attn-assign-workspace --canonicalize --cse | FileCheck %s

// CHECK: func.func private @f.workspace(%[[X:.*]]: memref<?x?xf32>, {{.*}}, %[[THREADS:.*]]: index) -> index
// CHECK: %[[M:.*]] = memref.dim %[[X]], %c1
// CHECK: %[[BYTES:.*]] = arith.muli %[[M]], %c512
// CHECK: %[[REGION:.*]] = arith.addi %{{.*}}, %c64
// CHECK: arith.muli %[[THREADS]],
// CHECK: func.func private @f.kernel
// CHECK: scf.forall
// CHECK: %[[WORKER:.*]] = func.call @attn.worker()
// CHECK: memref.view %arg2[%{{.*}}][] : memref<?xi8> to memref<2xf32>
// CHECK: %[[ROWS:.*]] = affine.min
// CHECK: memref.view %arg2[%{{.*}}][%[[ROWS]], %{{.*}}] : memref<?xi8> to memref<?x?xf32>
#rows = affine_map<(i)[n] -> (n - i * 128, 128)>
func.func private @f.kernel(%x: memref<?x?xf32>, %o: memref<?x?xf32>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %one = arith.constant 1.0 : f32
  %tiles = arith.ceildivui %n, %n : index
  scf.forall (%i) in (%tiles) {
    %s = memref.alloc() : memref<2xf32>
    memref.store %one, %s[%c0] : memref<2xf32>
    %rows = affine.min #rows(%i)[%n]
    %t = memref.alloc(%rows, %m) : memref<?x?xf32>
    memref.store %one, %t[%c0, %c0] : memref<?x?xf32>
  }
  return
}

// What is left behind the smaller of two numbers is not bounded by what is left
// behind either of them: the other operand gives the bound here.
// CHECK-LABEL: func.func private @left.workspace
// CHECK: %[[N:.*]] = memref.dim
// CHECK: %[[ROWS:.*]] = arith.maxui %{{.*}}, %c128
// CHECK: arith.muli %[[ROWS]], %c4
func.func private @left.kernel(%x: memref<?xf32>, %o: memref<?xf32>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %one = arith.constant 1.0 : f32
  %part = arith.maxui %n, %c128 : index
  scf.forall (%i) in (%n) {
    %at = arith.muli %i, %part : index
    %first = arith.minui %at, %n : index
    %left = arith.subi %n, %first : index
    %rows = arith.minui %left, %part : index
    %t = memref.alloc(%rows) : memref<?xf32>
    memref.store %one, %t[%c0] : memref<?xf32>
  }
  return
}

// Where what chooses between two sizes is known later than the kernel's begin,
// the larger of them is a bound.
// CHECK-LABEL: func.func private @chosen.workspace
// CHECK-SAME: (%[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?xf32>
// CHECK-DAG: %[[N:.*]] = memref.dim %[[X]], %c0
// CHECK-DAG: %[[M:.*]] = memref.dim %[[Y]], %c0
// CHECK: %[[ROWS:.*]] = arith.maxui %[[N]], %[[M]]
// CHECK: arith.muli %[[ROWS]], %c4
func.func private @chosen.kernel(%x: memref<?xf32>, %y: memref<?xf32>, %o: memref<2xi1>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %m = memref.dim %y, %c0 : memref<?xf32>
  %one = arith.constant 1.0 : f32
  %flag = memref.load %o[%c1] : memref<2xi1>
  %rows = arith.select %flag, %n, %m : index
  %t = memref.alloc(%rows) : memref<?xf32>
  scf.forall (%i) in (%n) {
    memref.store %one, %t[%c0] : memref<?xf32>
  }
  scf.forall (%i) in (%n) {
    %v = memref.load %t[%c0] : memref<?xf32>
    memref.store %v, %y[%i] : memref<?xf32>
  }
  return
}
