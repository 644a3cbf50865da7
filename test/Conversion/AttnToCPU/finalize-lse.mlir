// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The logarithm of the sum: m * ln 2 + log l, -inf where no key was seen. The
// logarithm is a polynomial, not a call.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK-NOT: math.
// CHECK: func.func private @f.finalize(%{{.*}}: memref<40x4xf32>, %{{.*}}: memref<?x6xf32>, %[[L:.*]]: memref<?xf32>)
// CHECK-DAG: %[[LN2:.*]] = arith.constant dense<0.693147182> : vector<4xf32>
// CHECK-DAG: %[[INF:.*]] = arith.constant dense<0xFF800000> : vector<4xf32>
// CHECK: %[[NONE:.*]] = arith.cmpf oeq, %[[SUM:.*]], %{{.*}} : vector<4xf32>
// CHECK: vector.fma %{{.*}}, %[[LN2]], %{{.*}} : vector<4xf32>
// CHECK-NEXT: %{{.*}} = arith.select %{{.*}}, %[[INF]], %{{.*}} : vector<4xi1>, vector<4xf32>
// CHECK: memref.store %{{.*}}, %[[L]]
// CHECK-NOT: math.
// CHECK: call @f.finalize(%{{.*}}, %arg1, %arg2)
func.func private @f.kernel(%q: memref<?x4xf32>, %o: memref<?x6xf32>, %l: memref<?xf32>) {
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  attn.finalize %s0 outs(%o, %l : memref<?x6xf32>, memref<?xf32>) {schedule = #s} : <8 x 4 x 6, f32>
  return
}
