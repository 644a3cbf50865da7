// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Items that see a part of the keys: a loop over batch, heads, parts and tiles of queries that saves states, and one over
// batch, heads and tiles that combines them. Of the tiles the last comes first.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 8, unroll = 1, prefetch = 0, split_keys = 16, split_queries = 20>

// CHECK-LABEL: @known
// CHECK: %[[PARTS:.*]] = scf.forall (%[[H:.*]], %[[S:.*]], %[[I:.*]]) in (2, 3, 3) shared_outs(%[[P:.*]] = %{{.*}}) -> (tensor<1x2x{{[3?]}}x20x6xf32>)
// CHECK: %[[T:.*]] = arith.subi %c2, %[[I]]
// CHECK: %[[ROW:.*]] = arith.muli %[[T]], %c8
// CHECK: %[[FIRST:.*]] = arith.muli %[[S]], %c16
// CHECK: %[[LEFT:.*]] = arith.subi %c40, %[[FIRST]]
// CHECK: %[[COUNT:.*]] = arith.minui %[[LEFT]], %c16
// CHECK: tensor.extract_slice %arg1[%[[H]], %[[FIRST]], 0] [1, %[[COUNT]], 8]
// CHECK: attn.init_state {{.*}} -> <8 x 8 x 4, f32>
// CHECK: %[[N:.*]] = attn.online {{.*}} rows %[[ROW]] to %{{.*}} keys from %[[FIRST]] lengths %c20, %c40 mode full
// CHECK: attn.save_state %[[N]]
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[P]][0, %[[H]], %[[S]], %[[ROW]], 0]
// CHECK: scf.forall (%[[H2:.*]], %[[I2:.*]]) in (2, 3)
// CHECK: tensor.extract_slice %[[PARTS]][0, %[[H2]], 0, %{{.*}}, 0] [1, 1, 3, %{{.*}}, 6]
// CHECK: attn.combine
// CHECK-NOT: attn.finalize
func.func @known(%q: tensor<2x20x8xf32>, %k: tensor<2x40x8xf32>, %v: tensor<2x40x4xf32>) -> tensor<2x20x4xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.5 {schedule = #s} : (tensor<2x20x8xf32>, tensor<2x40x8xf32>, tensor<2x40x4xf32>) -> tensor<2x20x4xf32>
  return %o : tensor<2x20x4xf32>
}

// Fewer keys than two parts have, or more queries than are split: as without parts.
// CHECK-LABEL: @few_keys
// CHECK-NOT: attn.save_state
// CHECK: attn.finalize
// CHECK-LABEL: @many_queries
// CHECK-NOT: attn.save_state
// CHECK: attn.finalize
func.func @few_keys(%q: tensor<20x8xf32>, %k: tensor<31x8xf32>) -> tensor<20x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 {schedule = #s} : (tensor<20x8xf32>, tensor<31x8xf32>, tensor<31x8xf32>) -> tensor<20x8xf32>
  return %o : tensor<20x8xf32>
}
func.func @many_queries(%q: tensor<21x8xf32>, %k: tensor<?x8xf32>) -> tensor<21x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 {schedule = #s} : (tensor<21x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<21x8xf32>
  return %o : tensor<21x8xf32>
}

// Lengths of run time choose one of the loops; the other has no batch entries.
// CHECK-LABEL: @unknown
// CHECK-DAG: %[[SQ:.*]] = tensor.dim %arg0, %c2
// CHECK-DAG: %[[SK:.*]] = tensor.dim %arg1, %c2
// CHECK-DAG: %[[FEW:.*]] = arith.cmpi ule, %[[SQ]], %c20
// CHECK-DAG: %[[MANY:.*]] = arith.cmpi uge, %[[SK]], %c32
// CHECK: %[[BOTH:.*]] = arith.andi %[[FEW]], %[[MANY]]
// CHECK: %[[SPLIT:.*]] = arith.select %[[BOTH]], %[[B:.*]], %c0
// CHECK: %[[WHOLE:.*]] = arith.select %[[BOTH]], %c0, %[[B]]
// CHECK: scf.forall {{.*}} in (%[[SPLIT]], 2, %{{.*}}, %{{.*}})
// CHECK: attn.save_state
// CHECK: %[[OUT:.*]] = scf.forall {{.*}} in (%[[SPLIT]], 2, %{{.*}})
// CHECK: attn.combine
// CHECK: scf.forall {{.*}} in (%[[WHOLE]], 2, %{{.*}}) shared_outs(%{{.*}} = %[[OUT]])
// CHECK: attn.finalize
func.func @unknown(%q: tensor<?x2x?x8xf32>, %k: tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 {schedule = #s} : (tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>
  return %o : tensor<?x2x?x8xf32>
}

// With a mask, a part runs if it lies between the first and the last that the tile sees, and only these are combined: here
// from that of key q - 9 on to that of key q.
// CHECK-LABEL: @window
// CHECK: scf.forall
// CHECK: %[[LAST:.*]] = arith.ceildivui %{{.*}}, %c2
// CHECK: %[[LOW:.*]] = arith.divui %{{.*}}, %c2
// CHECK: %[[FROM:.*]] = arith.minui %[[LOW]], %[[LAST]]
// CHECK: %[[SEEN:.*]] = arith.subi %[[LAST]], %[[FROM]]
// CHECK: %[[NUMBER:.*]] = arith.subi %{{.*}}, %[[FROM]]
// CHECK: %[[IS:.*]] = arith.cmpi ult, %[[NUMBER]], %[[SEEN]]
// CHECK: %[[TIMES:.*]] = arith.index_castui %[[IS]] : i1 to index
// CHECK: scf.for %{{.*}} = %c0 to %[[TIMES]] step %c1 iter_args
// CHECK: attn.init_state
// CHECK: attn.online {{.*}} where window(left = 9, right = 0) mode edge
// CHECK: attn.save_state
// CHECK: scf.forall
// CHECK: %[[LAST2:.*]] = arith.ceildivui
// CHECK: %[[FROM2:.*]] = arith.minui %{{.*}}, %[[LAST2]]
// CHECK: %[[SEEN2:.*]] = arith.subi %[[LAST2]], %[[FROM2]]
// CHECK: tensor.extract_slice %{{.*}}[0, 0, %[[FROM2]], %{{.*}}, 0] [1, 1, %[[SEEN2]], %{{.*}}, 10]
// CHECK: attn.combine
func.func @window(%q: tensor<20x8xf32>, %k: tensor<40x8xf32>) -> tensor<20x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 where window(left = 9, right = 0) {schedule = #s} : (tensor<20x8xf32>, tensor<40x8xf32>, tensor<40x8xf32>) -> tensor<20x8xf32>
  return %o : tensor<20x8xf32>
}

// Sinks are added once, where parts are combined; heads of a group read the same keys; a state as result is combined too.
// CHECK-LABEL: @sinks
// CHECK: %[[KV:.*]] = arith.divui %[[H:.*]], %c2
// CHECK: tensor.extract_slice %arg1[%[[KV]],
// CHECK-NOT: attn.add_sink
// CHECK: %[[SINK:.*]] = tensor.extract %arg2[%{{.*}}]
// CHECK: attn.combine %{{.*}} sink %[[SINK]] : f32 outs(%{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<?xf32>)
// CHECK-LABEL: @state
// CHECK: attn.save_state
// CHECK: attn.combine_state
// CHECK-NOT: attn.return_state
func.func @sinks(%q: tensor<4x20x8xf32>, %k: tensor<2x40x8xf32>, %sinks: tensor<4xf32>) -> (tensor<4x20x8xf32>, tensor<4x20xf32>) {
  %o, %l = attn.sdpa %q, %k, %k scale 0.5 sinks %sinks : tensor<4xf32> returning(out, lse) {schedule = #s} : (tensor<4x20x8xf32>, tensor<2x40x8xf32>, tensor<2x40x8xf32>) -> (tensor<4x20x8xf32>, tensor<4x20xf32>)
  return %o, %l : tensor<4x20x8xf32>, tensor<4x20xf32>
}
func.func @state(%q: tensor<20x8xf32>, %k: tensor<40x8xf32>) -> (tensor<20xf32>, tensor<20xf32>, tensor<20x8xf32>) {
  %o, %m, %l, %a = attn.sdpa %q, %k, %k scale 0.5 returning(out, state) {schedule = #s} : (tensor<20x8xf32>, tensor<40x8xf32>, tensor<40x8xf32>) -> (tensor<20x8xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20x8xf32>)
  return %m, %l, %a : tensor<20xf32>, tensor<20xf32>, tensor<20x8xf32>
}
