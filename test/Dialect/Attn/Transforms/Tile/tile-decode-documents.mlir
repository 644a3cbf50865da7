// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packed sequences with few queries each: tiles have the mean number of rows of a document, and an item goes through its
// documents. The states of a document with n queries from query i on are rows i * 2 + g * n of the heads g of a group.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
#d = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 8, key_tile = 16, unroll = 2, prefetch = 0, kind = decode, split_keys = 64>

// CHECK-LABEL: @ragged
// CHECK-DAG: %[[SQ:.*]] = tensor.dim %arg0, %c0
// CHECK-DAG: %[[STARTS:.*]] = tensor.dim %arg2, %c0
// CHECK-DAG: %[[DOCUMENTS:.*]] = arith.subi %[[STARTS]], %c1
// CHECK-DAG: %[[MOST:.*]] = arith.muli %[[DOCUMENTS]], %c4
// CHECK: %[[FEW:.*]] = arith.cmpi ule, %[[SQ]], %[[MOST]]
// CHECK: arith.select %[[FEW]], %c0, %c1
// CHECK: %[[SOME:.*]] = arith.maxui %[[DOCUMENTS]], %c1
// CHECK: %[[MEAN:.*]] = arith.ceildivui %[[SQ]], %[[SOME]]
// CHECK: %[[UP:.*]] = arith.minui %[[MEAN]], %c4
// CHECK: %[[TILE:.*]] = arith.maxui %[[UP]], %c1
// CHECK: %[[TILES:.*]] = arith.ceildivui %[[SQ]], %[[TILE]]
// CHECK: %[[B:.*]] = arith.select %[[FEW]], %c1, %c0
// CHECK: %[[PARTS:.*]] = scf.forall (%{{.*}}, %[[G:.*]], %[[I:.*]]) in (%[[B]], 2, %[[TILES]])
// CHECK: %[[BEGIN:.*]] = arith.muli %[[I]], %[[TILE]]
// CHECK: scf.while (%[[AT:.*]] = %[[BEGIN]], %{{.*}} = %{{.*}})
// CHECK: attn.init_state {{.*}} -> <8 x 8 x 8, f32, decode>
// CHECK: attn.online {{.*}} keys from %c0 {{.*}} where document({{.*}} bounds {{.*}}) and causal(offset = %{{.*}} : index) mode edge {heads = 2 : i64
// CHECK: attn.save_state
// CHECK: scf.forall (%{{.*}}, %[[H:.*]], %{{.*}}) in (%[[B]], 4, %[[TILES]])
// CHECK-DAG: %[[GROUP:.*]] = arith.divui %[[H]], %c2
// CHECK-DAG: %[[WITHIN:.*]] = arith.remui %[[H]], %c2
// CHECK: ^bb0(%[[FROM:[^ ]*]]: index, %{{[^ ]*}}: tensor<?x8xf32>)
// CHECK: %[[NEXT:.*]] = scf.while
// CHECK: %[[N:.*]] = arith.subi %[[NEXT]], %[[FROM]] : index
// CHECK: %[[DOCUMENT:.*]] = arith.muli %[[FROM]], %c2
// CHECK: %[[BEFORE:.*]] = arith.muli %[[WITHIN]], %[[N]]
// CHECK: %[[ROW:.*]] = arith.addi %[[DOCUMENT]], %[[BEFORE]]
// CHECK: tensor.extract_slice %[[PARTS]][{{.*}}, %[[GROUP]], 0, %[[ROW]], 0] [1, 1, 1, %[[N]], 10]
// CHECK: attn.combine
// CHECK: attn.finalize
func.func @ragged(%q: tensor<?x4x8xf32>, %k: tensor<?x2x8xf32>, %i: tensor<?xi32>, %j: tensor<?xi32>) -> tensor<?x4x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 where document(cumulative %i : tensor<?xi32>, %j : tensor<?xi32>) and causal(bottom_right in document)
      {schedule = #s, decode_schedule = #d, query_layout = #attn<layout bshd>, key_layout = #attn<layout bshd>, value_layout = #attn<layout bshd>, out_layout = #attn<layout bshd>}
      : (tensor<?x4x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>) -> tensor<?x4x8xf32>
  return %o : tensor<?x4x8xf32>
}

// Numbers of documents do not tell how many there are: tiles have as many rows as a state, and all fit one.
// CHECK-LABEL: @numbers
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in (2, 2, 2)
// CHECK: scf.while
// CHECK: kind = decode
// CHECK-NOT: attn.finalize
func.func @numbers(%q: tensor<2x4x6x8xf32>, %k: tensor<2x2x?x8xf32>, %i: tensor<2x6xi32>, %j: tensor<2x?xi32>) -> tensor<2x4x6x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 where document(%i : tensor<2x6xi32>, %j : tensor<2x?xi32>) {decode_schedule = #d}
      : (tensor<2x4x6x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x?x8xf32>) -> tensor<2x4x6x8xf32>
  return %o : tensor<2x4x6x8xf32>
}
