// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers that are never needed together share their bytes, as many as the larger
// takes; an alias keeps a buffer's bytes. One that is only sometimes there shares
// with its equals alone, unless it takes nothing more beside others.
// RUN: attn-opt %s --attn-assign-workspace --canonicalize --cse --split-input-file | FileCheck %s

// CHECK-LABEL: func.func private @f.kernel
// CHECK: %[[MOST:.*]] = arith.maxui
// CHECK: memref.view %arg2[%c0][%{{.*}}] : memref<?xi8> to memref<?x4xf32>
// CHECK: memref.view %arg2[%[[MOST]]][] : memref<?xi8> to memref<3xf32>
// CHECK: memref.view %arg2[%c0][%{{.*}}] : memref<?xi8> to memref<?x8xf32>
func.func private @f.kernel(%x: memref<?x?xf32>, %o: memref<?x?xf32>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %one = arith.constant 1.0 : f32
  %a = memref.alloc(%n) : memref<?x4xf32>
  %c = memref.alloc() : memref<3xf32>
  memref.store %one, %a[%c0, %c0] : memref<?x4xf32>
  memref.store %one, %c[%c0] : memref<3xf32>
  %y = memref.load %a[%c0, %c0] : memref<?x4xf32>
  memref.store %y, %c[%c1] : memref<3xf32>
  %b = memref.alloc(%m) : memref<?x8xf32>
  memref.store %one, %b[%c0, %c0] : memref<?x8xf32>
  %z = memref.load %b[%c0, %c0] : memref<?x8xf32>
  %w = memref.load %c[%c0] : memref<3xf32>
  %sum = arith.addf %z, %w : f32
  memref.store %sum, %o[%c0, %c0] : memref<?x?xf32>
  return
}

// -----
// CHECK-LABEL: func.func private @f.kernel
// CHECK: memref.view %arg2[%c0][] : memref<?xi8> to memref<16xf32>
// CHECK: memref.view %arg2[%c64][] : memref<?xi8> to memref<8xf32>
func.func private @f.kernel(%x: memref<?x?xf32>, %o: memref<?x?xf32>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %one = arith.constant 1.0 : f32
  %a = memref.alloc() : memref<16xf32>
  %part = memref.subview %a[8] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1], offset: 8>>
  memref.store %one, %a[%c0] : memref<16xf32>
  %b = memref.alloc() : memref<8xf32>
  memref.store %one, %b[%c0] : memref<8xf32>
  %z = memref.load %b[%c0] : memref<8xf32>
  %w = memref.load %part[%c0] : memref<8xf32, strided<[1], offset: 8>>
  %sum = arith.addf %z, %w : f32
  memref.store %sum, %o[%c0, %c0] : memref<?x?xf32>
  return
}

// -----
// An address that is a number keeps the bytes as well: buffers of bits are read so.
// CHECK-LABEL: func.func private @f.kernel
// CHECK: memref.view %arg2[%c0][] : memref<?xi8> to memref<4xi1>
// CHECK: memref.view %arg2[%c64][] : memref<?xi8> to memref<8xf32>
func.func private @f.kernel(%x: memref<?x?xf32>, %o: memref<?x?xf32>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %bits = arith.constant dense<1> : vector<4xi8>
  %a = memref.alloc() : memref<4xi1>
  %place = memref.extract_aligned_pointer_as_index %a : memref<4xi1> -> index
  %number = arith.index_cast %place : index to i64
  %address = llvm.inttoptr %number : i64 to !llvm.ptr
  llvm.store %bits, %address {alignment = 1 : i64} : vector<4xi8>, !llvm.ptr
  %b = memref.alloc() : memref<8xf32>
  memref.store %one, %b[%c0] : memref<8xf32>
  %z = memref.load %b[%c0] : memref<8xf32>
  %again = llvm.load %address {alignment = 1 : i64} : !llvm.ptr -> vector<4xi8>
  %bit = vector.extract %again[0] : i8 from vector<4xi8>
  %w = arith.uitofp %bit : i8 to f32
  %sum = arith.addf %z, %w : f32
  memref.store %sum, %o[%c0, %c0] : memref<?x?xf32>
  return
}

// -----
// Buffers of a loop that is no parallel one are placed as if they stood before it.
// CHECK-LABEL: func.func private @f.kernel
// CHECK: scf.for
// CHECK: memref.view %arg2[%c0][%{{.*}}] : memref<?xi8> to memref<?xf32>
func.func private @f.kernel(%x: memref<?x?xf32>, %o: memref<?x?xf32>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %t = memref.alloc(%i) : memref<?xf32>
    memref.store %one, %t[%c0] : memref<?xf32>
    %y = memref.load %t[%c0] : memref<?xf32>
    memref.store %y, %o[%i, %c0] : memref<?x?xf32>
  }
  return
}

// -----
// CHECK-LABEL: func.func private @f.kernel
// CHECK-NOT: arith.maxui
func.func private @f.kernel(%x: memref<?x?xf32>, %o: memref<?x?xf32>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %one = arith.constant 1.0 : f32
  %some = arith.cmpi ugt, %n, %m : index
  %few = arith.select %some, %n, %c0 : index
  %many = arith.select %some, %c0, %m : index
  %a = memref.alloc(%few) : memref<?xf32>
  memref.store %one, %a[%c0] : memref<?xf32>
  %b = memref.alloc(%many) : memref<?xf32>
  memref.store %one, %b[%c0] : memref<?xf32>
  return
}

// -----
// A large buffer has the bytes of two small ones that were needed before it; another small one stands behind it:
// 128 + 72 bytes for each row.
// CHECK-LABEL: func.func private @f.workspace
// CHECK: arith.muli %{{.*}}, %c3200
// CHECK: return
// CHECK-LABEL: func.func private @f.kernel
// CHECK-DAG: memref.view %arg2[%{{.*}}][%{{.*}}] : memref<?xi8> to memref<?x16xf32>
// CHECK-DAG: memref.view %arg2[%c0][%{{.*}}] : memref<?xi8> to memref<?x17xf32>
// CHECK-DAG: memref.view %arg2[%c0][%{{.*}}] : memref<?xi8> to memref<?x32xf32>
func.func private @f.kernel(%x: memref<?x?xf32>, %o: memref<?x?xf32>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %one = arith.constant 1.0 : f32
  %a = memref.alloc(%n) : memref<?x16xf32>
  memref.store %one, %a[%c0, %c0] : memref<?x16xf32>
  %b = memref.alloc(%n) : memref<?x17xf32>
  memref.store %one, %b[%c0, %c0] : memref<?x17xf32>
  %y = memref.load %a[%c0, %c0] : memref<?x16xf32>
  %z = memref.load %b[%c0, %c0] : memref<?x17xf32>
  %c = memref.alloc(%n) : memref<?x32xf32>
  memref.store %y, %c[%c0, %c0] : memref<?x32xf32>
  %d = memref.alloc(%n) : memref<?x18xf32>
  memref.store %z, %d[%c0, %c0] : memref<?x18xf32>
  %v = memref.load %c[%c0, %c0] : memref<?x32xf32>
  %w = memref.load %d[%c0, %c0] : memref<?x18xf32>
  %sum = arith.addf %v, %w : f32
  memref.store %sum, %o[%c0, %c0] : memref<?x?xf32>
  return
}

// -----
// What arith.select, a cast and a transposition return is the buffer, too: %b cannot have its bytes, %c can.
// CHECK-LABEL: func.func private @f.kernel
// CHECK-NOT: memref.view %arg2[%c0]{{.*}} to memref<?x4xf32>
// CHECK: memref.view %arg2[%c0][%{{.*}}] : memref<?xi8> to memref<?x4xf64>
// CHECK: memref.view %arg2[%c0][%{{.*}}] : memref<?xi8> to memref<?x8xf32>
func.func private @f.kernel(%x: memref<?x4xf32>, %o: memref<?x?xf32>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x4xf32>
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f64
  %some = arith.cmpi ugt, %n, %c0 : index
  %a = memref.alloc(%n) : memref<?x4xf32>
  memref.store %one, %a[%c0, %c0] : memref<?x4xf32>
  %chosen = arith.select %some, %a, %x : memref<?x4xf32>
  %turned = memref.transpose %chosen (i, j) -> (j, i) : memref<?x4xf32> to memref<4x?xf32, strided<[1, 4]>>
  %b = memref.alloc(%n) : memref<?x4xf64>
  memref.store %two, %b[%c0, %c0] : memref<?x4xf64>
  %y = memref.load %b[%c0, %c0] : memref<?x4xf64>
  %z = memref.load %turned[%c0, %c0] : memref<4x?xf32, strided<[1, 4]>>
  %c = memref.alloc(%n) : memref<?x8xf32>
  memref.store %z, %c[%c0, %c0] : memref<?x8xf32>
  %w = memref.load %c[%c0, %c0] : memref<?x8xf32>
  memref.store %w, %o[%c0, %c0] : memref<?x?xf32>
  return
}

// -----
// A buffer that is only sometimes there stands where a larger one will be: both together take no more.
// CHECK-LABEL: func.func private @f.kernel
// CHECK-DAG: memref.view %arg2[%c0][%{{.*}}] : memref<?xi8> to memref<?x8xf32>
// CHECK-DAG: memref.view %arg2[%c0][%{{.*}}] : memref<?xi8> to memref<?x4xf32>
func.func private @f.kernel(%x: memref<?x?xf32>, %o: memref<?x?xf32>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %one = arith.constant 1.0 : f32
  %some = arith.cmpi ugt, %n, %c9 : index
  %few = arith.select %some, %n, %c0 : index
  %a = memref.alloc(%few) : memref<?x4xf32>
  memref.store %one, %a[%c0, %c0] : memref<?x4xf32>
  %y = memref.load %a[%c0, %c0] : memref<?x4xf32>
  %b = memref.alloc(%n) : memref<?x8xf32>
  memref.store %y, %b[%c0, %c0] : memref<?x8xf32>
  %z = memref.load %b[%c0, %c0] : memref<?x8xf32>
  memref.store %z, %o[%c0, %c0] : memref<?x?xf32>
  return
}
