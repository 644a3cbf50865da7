// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Static lengths: a static number of tiles; the last of them has one row.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f
// CHECK-DAG: %[[SQ:.*]] = arith.constant 33 : index
// CHECK-DAG: %[[SK:.*]] = arith.constant 5 : index
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %[[I:.*]]) in (2, 3, 3)
// CHECK: %[[LEFT:.*]] = arith.subi %[[SQ]], %{{.*}}
// CHECK: arith.minui %[[LEFT]], %c16
// CHECK: attn.online {{.*}} keys from %c0 lengths %[[SQ]], %[[SK]]
// CHECK-SAME: tensor<5x4xf32>, tensor<5x6xf32>
func.func @f(%q: tensor<2x3x33x4xf32>, %k: tensor<2x3x5x4xf32>, %v: tensor<2x3x5x6xf32>) -> tensor<2x3x33x6xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.5 {schedule = #s} : (tensor<2x3x33x4xf32>, tensor<2x3x5x4xf32>, tensor<2x3x5x6xf32>) -> tensor<2x3x33x6xf32>
  return %o : tensor<2x3x33x6xf32>
}
