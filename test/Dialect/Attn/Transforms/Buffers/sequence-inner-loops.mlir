// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Of nested parallel loops the outer one stays; loops beside each other, and in sequential ones, stay as well.
// RUN: attn-opt %s --attn-sequence-inner-loops | FileCheck %s

// CHECK-LABEL: func.func @nested(
// CHECK: scf.forall (%[[I:.*]]) in (4)
// CHECK-NOT: scf.forall
// CHECK: scf.for %[[J:.*]] =
// CHECK: scf.for %[[K:.*]] =
// CHECK: scf.for %[[L:.*]] =
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[I]], %[[J]], %[[K]], %[[L]]]
func.func @nested(%m: memref<4x?x5x6xf32>, %n: index, %x: f32) {
  scf.forall (%i) in (4) {
    scf.forall (%j, %k) in (%n, 5) {
      scf.forall (%l) in (6) {
        memref.store %x, %m[%i, %j, %k, %l] : memref<4x?x5x6xf32>
      }
    }
  }
  return
}

// CHECK-LABEL: func.func @others(
// CHECK: scf.forall
// CHECK: scf.for
// CHECK: scf.forall
// CHECK: scf.parallel
// CHECK-NOT: scf.forall
// CHECK: scf.for
func.func @others(%m: memref<?xf32>, %zero: index, %one: index, %n: index, %x: f32) {
  scf.forall (%i) in (%n) {
    memref.store %x, %m[%i] : memref<?xf32>
  }
  scf.for %j = %zero to %n step %one {
    scf.forall (%i) in (%n) {
      memref.store %x, %m[%i] : memref<?xf32>
    }
  }
  scf.parallel (%j) = (%zero) to (%n) step (%one) {
    scf.forall (%i) in (%n) {
      memref.store %x, %m[%i] : memref<?xf32>
    }
  }
  return
}
