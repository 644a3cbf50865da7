// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One item per tile of queries; an item holds the four steps.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f
// CHECK-NOT: attn.sdpa
// CHECK-DAG: %[[SQ:.*]] = tensor.dim %arg0, %c0
// CHECK-DAG: %[[SK:.*]] = tensor.dim %arg1, %c0
// CHECK: %[[TILES:.*]] = arith.ceildivui %[[SQ]], %c16
// CHECK: scf.forall (%{{.*}}) in (%[[TILES]]) shared_outs(%[[OUT:.*]] = %{{.*}})
// CHECK: %[[Q:.*]] = tensor.extract_slice %arg0[%[[BEGIN:.*]], 0] [%[[ROWS:.*]], 4] [1, 1]
// CHECK: %[[END:.*]] = arith.addi %[[BEGIN]], %[[ROWS]]
// CHECK: %[[S0:.*]] = attn.init_state %[[Q]] scale 5.000000e-01
// CHECK: %[[S1:.*]] = attn.online %[[S0]], %{{.*}}, %{{.*}} rows %[[BEGIN]] to %[[END]] keys from %c0 lengths %[[SQ]], %[[SK]] mode full
// CHECK: %[[R:.*]] = attn.finalize %[[S1]] outs(
// CHECK-NOT: attn.weigh
// CHECK: tensor.parallel_insert_slice %[[R]] into %[[OUT]][%[[BEGIN]], 0] [%[[ROWS]], 6] [1, 1]
func.func @f(%q: tensor<?x4xf32>, %k: tensor<?x4xf32>, %v: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.5 {schedule = #s} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return %o : tensor<?x6xf32>
}
