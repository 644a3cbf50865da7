// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Saved states are merged in their order: the greatest m, the sums scaled by 2^(m_i - m),
// and one division. m is in units of log2: lse is m * ln 2 + log l.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 2, query_tile = 8, key_tile = 16, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

// CHECK: func.func private @f.combine(%[[P:.*]]: memref<?x?x10xf32>, %[[O:.*]]: memref<?x8xf16>, %[[LSE:.*]]: memref<?xf32>)
// CHECK-DAG: %[[LN2:.*]] = arith.constant dense<0.693147182> : vector<4xf32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<4xf32>
// CHECK: %[[STATES:.*]] = memref.dim %[[P]], %c0
// CHECK: scf.for %[[R:.*]] =
// CHECK: %[[MAX:.*]] = scf.for %[[I:.*]] = %c0 to %[[STATES]] step %c1
// CHECK: memref.load %[[P]][%[[I]], %[[R]], %c8]
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: math.exp2
// CHECK: memref.load %[[P]][%{{.*}}, %[[R]], %c9]
// CHECK: vector.fma
// CHECK: arith.divf
// CHECK: scf.for
// CHECK: %[[F:.*]] = math.exp2
// CHECK: %[[A:.*]] = vector.load %[[P]][%{{.*}}, %[[R]], %c0]
// CHECK: %[[B:.*]] = vector.load %[[P]][%{{.*}}, %[[R]], %c4]
// CHECK: vector.fma %[[A]], %[[F]]
// CHECK: vector.fma %[[B]], %[[F]]
// CHECK: arith.truncf %{{.*}} : vector<4xf32> to vector<4xf16>
// CHECK: %[[LOG:.*]] = math.log %[[SUM]]
// CHECK: vector.fma %[[MAX]], %[[LN2]], %[[LOG]]
// CHECK: memref.store %{{.*}}, %[[LSE]][%[[R]]]
func.func private @f.kernel(%p: memref<?x?x10xf32>, %o: memref<?x8xf16>, %l: memref<?xf32>) {
  attn.combine %p outs(%o, %l : memref<?x8xf16>, memref<?xf32>) {schedule = #d} : memref<?x?x10xf32>
  return
}
