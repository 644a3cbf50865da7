// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Large head dims: 4 vectors at a time in a loop, so that the code does not
// grow with them, then what is left; the last vector is moved back.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 2, query_tile = 8, key_tile = 16, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

// CHECK: func.func private @f.combine(%[[P:.*]]: memref<?x?x40xf32>, %[[O:.*]]: memref<?x38xf32>)
// CHECK: scf.for %[[R:.*]] = %c0 to
// CHECK: arith.divf
// CHECK: scf.for %[[A:.*]] = %c0 to %c32 step %c16
// CHECK-DAG: %[[B:.*]] = arith.addi %[[A]], %c4
// CHECK-DAG: %[[C:.*]] = arith.addi %[[A]], %c8
// CHECK-DAG: %[[D:.*]] = arith.addi %[[A]], %c12
// CHECK: scf.for
// CHECK-COUNT-4: vector.load %[[P]]
// CHECK-NOT: vector.load
// CHECK-DAG: vector.store %{{.*}}, %[[O]][%[[R]], %[[A]]]
// CHECK-DAG: vector.store %{{.*}}, %[[O]][%[[R]], %[[B]]]
// CHECK-DAG: vector.store %{{.*}}, %[[O]][%[[R]], %[[C]]]
// CHECK-DAG: vector.store %{{.*}}, %[[O]][%[[R]], %[[D]]]
// CHECK: scf.for
// CHECK-COUNT-2: vector.load %[[P]]
// CHECK-DAG: vector.store %{{.*}}, %[[O]][%[[R]], %c32]
// CHECK-DAG: vector.store %{{.*}}, %[[O]][%[[R]], %c34]
// CHECK-NOT: vector.store
// CHECK: func.func private @f.kernel
func.func private @f.kernel(%p: memref<?x?x40xf32>, %o: memref<?x38xf32>) {
  attn.combine %p outs(%o : memref<?x38xf32>) {schedule = #d} : memref<?x?x40xf32>
  return
}
