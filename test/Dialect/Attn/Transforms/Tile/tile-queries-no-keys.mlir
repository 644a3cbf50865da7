// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Without keys, known at compile time, there is nothing to tile: 0 and -inf.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f
// CHECK-NOT: attn.
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[INF:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[O:.*]] = linalg.fill ins(%[[ZERO]] : f32) {{.*}} -> tensor<?x4xf32>
// CHECK-DAG: %[[L:.*]] = linalg.fill ins(%[[INF]] : f32) {{.*}} -> tensor<?xf32>
// CHECK: return %[[O]], %[[L]]
func.func @f(%q: tensor<?x4xf32>, %k: tensor<0x4xf32>) -> (tensor<?x4xf32>, tensor<?xf32>) {
  %o, %l = attn.sdpa %q, %k, %k scale 0.5 returning(out, lse) {schedule = #s} : (tensor<?x4xf32>, tensor<0x4xf32>, tensor<0x4xf32>) -> (tensor<?x4xf32>, tensor<?xf32>)
  return %o, %l : tensor<?x4xf32>, tensor<?xf32>
}
