// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The context is divided by the sum, 0 where there is no key, and transposed back.
// Rows that the tile does not have are not written.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.finalize(%[[S:.*]]: memref<46x4xf32>, %[[O:.*]]: memref<?x6xf32>)
// CHECK: %[[SUM:.*]] = vector.load %[[S]]
// CHECK-NEXT: %[[NONE:.*]] = arith.cmpf oeq, %[[SUM]], %[[ZERO:.*]] : vector<4xf32>
// CHECK-NEXT: %[[X:.*]] = arith.divf %{{.*}}, %[[SUM]]
// CHECK-NEXT: %[[INVERSE:.*]] = arith.select %[[NONE]], %[[ZERO]], %[[X]]
// CHECK-NEXT: vector.store %[[INVERSE]], %[[S]][%[[KEPT:.*]], %c0]
// CHECK: scf.if
// CHECK: %[[KNOWN:.*]] = vector.load %[[S]][%[[KEPT]], %c0]
// CHECK: arith.mulf %{{.*}}, %[[KNOWN]]
// CHECK: vector.shuffle
// CHECK: vector.store %{{.*}}, %[[O]]
// CHECK: } else {
// CHECK: scf.if
// CHECK-NEXT: vector.store %{{.*}}, %[[O]]
func.func private @f.kernel(%q: memref<?x4xf32>, %o: memref<?x6xf32>) {
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  attn.finalize %s0 outs(%o : memref<?x6xf32>) {schedule = #s} : <8 x 4 x 6, f32>
  return
}
