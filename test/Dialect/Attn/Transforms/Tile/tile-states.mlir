// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One item per batch entry, head and 16 rows; m and l have a dimension less than acc.
// RUN: attn-opt %s --attn-tile-states --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @merge
// CHECK-SAME: (%[[M1:.*]]: tensor<?x8x?xf32>, %[[L1:.*]]: tensor<?x8x?xf32>, %[[A1:.*]]: tensor<?x8x?x64xf32>, %[[M2:.*]]: tensor<?x8x?xf32>, %[[L2:.*]]: tensor<?x8x?xf32>, %[[A2:.*]]: tensor<?x8x?x64xf32>)
// CHECK-DAG: %[[B:.*]] = tensor.dim %[[A1]], %c0
// CHECK-DAG: %[[ROWS:.*]] = tensor.dim %[[A1]], %c2
// CHECK: %[[TILES:.*]] = arith.ceildivui %[[ROWS]], %c16
// CHECK: scf.forall (%[[N:.*]], %[[H:.*]], %[[T:.*]]) in (%[[B]], 8, %[[TILES]]) shared_outs(%[[M:.*]] = %{{.*}}, %[[L:.*]] = %{{.*}}, %[[A:.*]] = %{{.*}})
// CHECK: %[[FIRST:.*]] = arith.muli %[[T]], %c16
// CHECK: %[[LEFT:.*]] = arith.subi %[[ROWS]], %[[FIRST]]
// CHECK: %[[COUNT:.*]] = arith.minui %[[LEFT]], %c16
// CHECK: %[[M1R:.*]] = tensor.extract_slice %[[M1]][%[[N]], %[[H]], %[[FIRST]]] [1, 1, %[[COUNT]]] [1, 1, 1] : tensor<?x8x?xf32> to tensor<?xf32>
// CHECK: %[[L1R:.*]] = tensor.extract_slice %[[L1]]
// CHECK: %[[A1R:.*]] = tensor.extract_slice %[[A1]][%[[N]], %[[H]], %[[FIRST]], 0] [1, 1, %[[COUNT]], 64] [1, 1, 1, 1] : tensor<?x8x?x64xf32> to tensor<?x64xf32>
// CHECK: %[[M2R:.*]] = tensor.extract_slice %[[M2]]
// CHECK: %[[L2R:.*]] = tensor.extract_slice %[[L2]]
// CHECK: %[[A2R:.*]] = tensor.extract_slice %[[A2]]
// CHECK: %[[MO:.*]] = tensor.extract_slice %[[M]]
// CHECK: %[[LO:.*]] = tensor.extract_slice %[[L]]
// CHECK: %[[AO:.*]] = tensor.extract_slice %[[A]]
// CHECK: %[[R:.*]]:3 = attn.merge_rows %[[M1R]], %[[L1R]], %[[A1R]] with %[[M2R]], %[[L2R]], %[[A2R]] outs(%[[MO]], %[[LO]], %[[AO]] :
// CHECK: tensor.parallel_insert_slice %[[R]]#0 into %[[M]][%[[N]], %[[H]], %[[FIRST]]] [1, 1, %[[COUNT]]]
// CHECK: tensor.parallel_insert_slice %[[R]]#1 into %[[L]][%[[N]], %[[H]], %[[FIRST]]] [1, 1, %[[COUNT]]]
// CHECK: tensor.parallel_insert_slice %[[R]]#2 into %[[A]][%[[N]], %[[H]], %[[FIRST]], 0] [1, 1, %[[COUNT]], 64]
func.func @merge(%m1: tensor<?x8x?xf32>, %l1: tensor<?x8x?xf32>, %a1: tensor<?x8x?x64xf32>, %m2: tensor<?x8x?xf32>, %l2: tensor<?x8x?xf32>,
                 %a2: tensor<?x8x?x64xf32>) -> (tensor<?x8x?xf32>, tensor<?x8x?xf32>, tensor<?x8x?x64xf32>) {
  %m, %l, %a = attn.merge_states %m1, %l1, %a1 with %m2, %l2, %a2 {schedule = #s} : tensor<?x8x?xf32>, tensor<?x8x?x64xf32>
  return %m, %l, %a : tensor<?x8x?xf32>, tensor<?x8x?xf32>, tensor<?x8x?x64xf32>
}

// Rank 2: tiles of rows only; the width may be unknown. A state with a second user stays as it is.
// CHECK-LABEL: @finalize
// CHECK-SAME: (%[[M:.*]]: tensor<?xf64>, %[[L:.*]]: tensor<?xf64>, %[[A:.*]]: tensor<?x?xf64>)
// CHECK-DAG: %[[ROWS:.*]] = tensor.dim %[[A]], %c0
// CHECK-DAG: %[[WIDTH:.*]] = tensor.dim %[[A]], %c1
// CHECK: scf.forall (%[[T:.*]]) in (%{{.*}}) shared_outs(%[[O:.*]] = %{{.*}}, %[[E:.*]] = %{{.*}})
// CHECK: tensor.extract_slice %[[A]][%[[FIRST:.*]], 0] [%[[COUNT:.*]], %[[WIDTH]]] [1, 1]
// CHECK: %[[R:.*]]:2 = attn.finalize_rows %{{.*}}, %{{.*}}, %{{.*}} outs(%{{.*}}, %{{.*}} : tensor<?x?xf64>, tensor<?xf64>)
// CHECK: tensor.parallel_insert_slice %[[R]]#0 into %[[O]][%[[FIRST]], 0] [%[[COUNT]], %{{.*}}]
// CHECK: tensor.parallel_insert_slice %[[R]]#1 into %[[E]][%[[FIRST]]] [%[[COUNT]]]
// CHECK: return %{{.*}}, %{{.*}}, %[[A]]
func.func @finalize(%m: tensor<?xf64>, %l: tensor<?xf64>, %a: tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?xf64>, tensor<?x?xf64>) {
  %o, %e = attn.finalize_state %m, %l, %a {schedule = #s} : (tensor<?xf64>, tensor<?xf64>, tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?xf64>)
  return %o, %e, %a : tensor<?x?xf64>, tensor<?xf64>, tensor<?x?xf64>
}

// Without lse there is one destination.
// CHECK-LABEL: @out_only
// CHECK: scf.forall (%{{.*}}, %{{.*}}) in (3, 2)
// CHECK: attn.finalize_rows %{{.*}} outs(%{{.*}} : tensor<?x8xf16>)
func.func @out_only(%m: tensor<3x20xf32>, %l: tensor<3x20xf32>, %a: tensor<3x20x8xf32>) -> tensor<3x20x8xf16> {
  %o = attn.finalize_state %m, %l, %a {schedule = #s} : (tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20x8xf32>) -> tensor<3x20x8xf16>
  return %o : tensor<3x20x8xf16>
}

// Without rows there is nothing to compute.
// CHECK-LABEL: @no_rows
// CHECK-NOT: scf.forall
// CHECK: return
func.func @no_rows(%m: tensor<3x0xf32>, %a: tensor<3x0x8xf32>) -> tensor<3x0x8xf32> {
  %o = attn.finalize_state %m, %m, %a {schedule = #s} : (tensor<3x0xf32>, tensor<3x0xf32>, tensor<3x0x8xf32>) -> tensor<3x0x8xf32>
  return %o : tensor<3x0x8xf32>
}
