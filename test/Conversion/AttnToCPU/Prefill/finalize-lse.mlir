// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The logarithm of the sum: m * ln 2 + log l, -inf where no key was seen. The
// logarithm is a polynomial, not a call.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
// RUN: attn-opt %s --convert-attn-to-cpu --attn-lower-vector-math --canonicalize | FileCheck %s --check-prefix=LOWERED --implicit-check-not=math.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.finalize(%{{.*}}: memref<46x4xf32>, %{{.*}}: memref<?x6xf32>, %[[L:.*]]: memref<?xf32>)
// CHECK-DAG: %[[LN2:.*]] = arith.constant dense<0.693147182> : vector<4xf32>
// CHECK-DAG: %[[INF:.*]] = arith.constant dense<0xFF800000> : vector<4xf32>
// CHECK: %[[LOG:.*]] = math.log %[[SUM:.*]] : vector<4xf32>
// CHECK-NEXT: %[[NONE:.*]] = arith.cmpf oeq, %[[SUM]], %{{.*}} : vector<4xf32>
// CHECK-NEXT: %[[LSE:.*]] = vector.fma %{{.*}}, %[[LN2]], %[[LOG]] : vector<4xf32>
// CHECK-NEXT: arith.select %[[NONE]], %[[INF]], %[[LSE]] : vector<4xi1>, vector<4xf32>
// CHECK: memref.store %{{.*}}, %[[L]]
// CHECK: call @f.finalize(%{{.*}}, %arg1, %arg2)

// LOWERED: func.func private @f.finalize(
// LOWERED-DAG: %[[LN2:.*]] = arith.constant dense<0.693147182> : vector<4xf32>
// LOWERED: vector.fma %{{.*}}, %[[LN2]], %{{.*}} : vector<4xf32>
// LOWERED: func.func private @f.kernel
func.func private @f.kernel(%q: memref<?x4xf32>, %o: memref<?x6xf32>, %l: memref<?xf32>) {
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  attn.finalize %s0 outs(%o, %l : memref<?x6xf32>, memref<?xf32>) {schedule = #s} : <8 x 4 x 6, f32>
  return
}
