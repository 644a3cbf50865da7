// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// On a GPU the queries of a group are read where they lie, row i * heads + g of a state is query i of head g, and a row is an item
// of the merge.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#g = #attn.gpu_schedule<query_tile = 16, key_tile = 16, warps = 1, kind = decode, split_keys = 64>

// CHECK-LABEL: @group
// At most 64 parts, of which the last ones may have no keys.
// CHECK: %[[ALL:.*]] = arith.ceildivui %[[KEYS:.*]], %c64
// CHECK: %[[TILES:.*]] = arith.ceildivui %[[KEYS]], %c1024
// CHECK: %[[MORE:.*]] = arith.muli %[[TILES]], %c16
// CHECK-DAG: %[[PARTS:.*]] = arith.minui %[[ALL]], %c64
// CHECK-DAG: %[[LENGTH:.*]] = arith.maxui %[[MORE]], %c64
// CHECK: %[[STATES:.*]] = scf.forall (%[[N:.*]], %[[G:.*]], %{{.*}}) in (3, 2, %[[PARTS]])
// CHECK: %[[H:.*]] = arith.muli %[[G]], %c4
// CHECK: %[[BEGIN:.*]] = arith.muli %{{.*}}, %[[LENGTH]]
// CHECK: %[[LEFT:.*]] = arith.subi %[[KEYS]], %[[BEGIN]]
// CHECK: %[[SOME:.*]] = arith.maxsi %[[LEFT]], %c0
// CHECK: arith.minui %[[SOME]], %[[LENGTH]]
// CHECK: %[[Q:.*]] = tensor.extract_slice %arg0[%[[N]], %[[H]], 0, 0] [1, 4, 2, 8] [1, 1, 1, 1] : tensor<3x8x2x8xf32> to tensor<4x2x8xf32>
// CHECK: attn.init_state %[[Q]] scale 5.000000e-01 {schedule
// CHECK-SAME: : tensor<4x2x8xf32>
// CHECK: attn.online {{.*}} {heads = 4 : i64
// CHECK: scf.forall (%{{.*}}, %[[HEAD:.*]], %[[I:.*]]) in (3, 8, 2)
// CHECK-DAG: %[[OF:.*]] = arith.divui %[[HEAD]], %c4
// CHECK-DAG: %[[WITHIN:.*]] = arith.remui %[[HEAD]], %c4
// CHECK: %[[FIRST:.*]] = arith.muli %[[I]], %c4
// CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]], %[[WITHIN]]
// CHECK: tensor.extract_slice %[[STATES]][%{{.*}}, %[[OF]], 0, %[[ROW]], 0] [1, 1, %[[PARTS]], 1, 6]
// CHECK: attn.combine
func.func @group(%q: tensor<3x8x2x8xf32>, %k: tensor<3x2x?x8xf32>, %v: tensor<3x2x?x4xf32>) -> tensor<3x8x2x4xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.5 {decode_schedule = #g} : (tensor<3x8x2x8xf32>, tensor<3x2x?x8xf32>, tensor<3x2x?x4xf32>) -> tensor<3x8x2x4xf32>
  return %o : tensor<3x8x2x4xf32>
}

// CHECK-LABEL: @bshd
// CHECK: tensor.extract_slice %arg0[%{{.*}}, 0, %{{.*}}, 0] [1, 2, 4, 8] [1, 1, 1, 1] : tensor<3x2x8x8xf32> to tensor<2x4x8xf32>
// CHECK: attn.init_state {{.*}} {layout = #attn<layout bshd>
func.func @bshd(%q: tensor<3x2x8x8xf32>, %k: tensor<3x2x?x8xf32>) -> tensor<3x8x2x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 {decode_schedule = #g, query_layout = #attn<layout bshd>} : (tensor<3x2x8x8xf32>, tensor<3x2x?x8xf32>, tensor<3x2x?x8xf32>) -> tensor<3x8x2x8xf32>
  return %o : tensor<3x8x2x8xf32>
}

// 48 heads share a key head; a block has the 16 rows that its schedule says.
// CHECK-LABEL: @large
// CHECK: scf.forall (%[[G:.*]], %{{.*}}) in (3, %{{.*}})
// CHECK: tensor.extract_slice %arg0[%{{.*}}, 0, 0] [16, 1, 8]
// CHECK: attn.online {{.*}} {heads = 16 : i64
func.func @large(%q: tensor<48x1x8xf32>, %k: tensor<1x?x8xf32>) -> tensor<48x1x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 {decode_schedule = #g} : (tensor<48x1x8xf32>, tensor<1x?x8xf32>, tensor<1x?x8xf32>) -> tensor<48x1x8xf32>
  return %o : tensor<48x1x8xf32>
}

// Without a query there is no block, and no state.
// CHECK-LABEL: @unknown
// CHECK: %[[SOME:.*]] = arith.minui %{{.*}}, %c1
// CHECK: %[[BATCH:.*]] = arith.muli %[[SOME]], %c3
// CHECK: scf.forall ({{.*}}) in (%[[BATCH]], 2, %{{.*}})
func.func @unknown(%q: tensor<3x8x?x8xf32>, %k: tensor<3x2x?x8xf32>) -> tensor<3x8x?x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 {decode_schedule = #g} : (tensor<3x8x?x8xf32>, tensor<3x2x?x8xf32>, tensor<3x2x?x8xf32>) -> tensor<3x8x?x8xf32>
  return %o : tensor<3x8x?x8xf32>
}

// Documents are not cut into parts; rows of all of them lie by their queries.
// CHECK-LABEL: @documents
// CHECK: scf.forall ({{.*}}) in (%{{.*}}, 2, %{{.*}}){{.*}} -> (tensor<?x2x1x?x10xf32>)
// CHECK: scf.while
// CHECK: attn.save_state
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %[[I:.*]]) in (%{{.*}}, 8, %{{.*}})
// CHECK-NOT: scf.while
// CHECK: arith.muli %[[I]], %c4
// CHECK: attn.combine
func.func @documents(%q: tensor<8x?x8xf32>, %k: tensor<2x?x8xf32>, %d: tensor<?xi32>, %e: tensor<?xi32>) -> tensor<8x?x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 where document(%d : tensor<?xi32>, %e : tensor<?xi32>) {decode_schedule = #g} : (tensor<8x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>) -> tensor<8x?x8xf32>
  return %o : tensor<8x?x8xf32>
}
