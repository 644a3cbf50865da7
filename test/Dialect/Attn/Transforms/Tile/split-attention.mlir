// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-split-attention --split-input-file | FileCheck %s

// Each map in f32, and their difference; rows that see no key have no second term.
// CHECK-DAG:   #[[ALL:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG:   #[[HEAD:.*]] = affine_map<(d0, d1, d2) -> (d0)>
// CHECK-DAG:   #[[ROW:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @maps(
// CHECK-SAME:    %[[Q:.*]]: tensor<2x?x8xf16>, %[[K:.*]]: tensor<2x?x8xf16>, %[[V:.*]]: tensor<2x?x8xf16>, %[[L:.*]]: tensor<2xf32>)
// CHECK:         %[[A:.*]] = attn.sdpa %[[Q]], %[[K]], %[[V]] scale 2.0{{.*}} where causal(bottom_right) : {{.*}} -> tensor<2x?x8xf32>
// CHECK:         %[[B:.*]], %[[LSE:.*]] = attn.sdpa %[[K]], %[[Q]], %[[V]] {{.*}} returning(out, lse)
// CHECK:         %[[R:.*]] = linalg.generic {indexing_maps = [#[[ALL]], #[[ALL]], #[[HEAD]], #[[ROW]], #[[ALL]]]
// CHECK-SAME:      ins(%[[A]], %[[B]], %[[L]], %[[LSE]] :
// CHECK:           %[[X:.*]] = arith.mulf
// CHECK:           %[[EMPTY:.*]] = arith.cmpf oeq
// CHECK:           %[[TERM:.*]] = arith.select %[[EMPTY]], %{{.*}}, %[[X]]
// CHECK:           %[[D:.*]] = arith.subf %{{.*}}, %[[TERM]]
// CHECK:           arith.truncf %[[D]] : f32 to f16
// CHECK:         return %[[R]]
func.func @maps(%q: tensor<2x?x8xf16>, %k: tensor<2x?x8xf16>, %v: tensor<2x?x8xf16>, %l: tensor<2xf32>) -> tensor<2x?x8xf16> {
  %0 = attn.sdpa %q, %k, %v minus %k, %q by %l : tensor<2xf32> scale 0.2 where causal(bottom_right) : (tensor<2x?x8xf16>, tensor<2x?x8xf16>, tensor<2x?x8xf16>) -> tensor<2x?x8xf16>
  return %0 : tensor<2x?x8xf16>
}

// -----

// By sigmoid there is no lse; one lambda for all heads.
// CHECK-LABEL: func.func @sigmoid(
// CHECK-NOT:     returning
// CHECK:         linalg.generic
// CHECK-NOT:     arith.select
// CHECK:         return
func.func @sigmoid(%q: tensor<2x?x8xf32>, %l: tensor<1xf32>) -> tensor<2x?x8xf32> {
  %0 = attn.sdpa %q, %q, %q minus %q, %q by %l : tensor<1xf32> scale 0.2 {normalization = #attn<normalization sigmoid>} : (tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return %0 : tensor<2x?x8xf32>
}

// -----

// Values of 300 features: 256 and 44; lse is that of the first part.
// CHECK-LABEL: func.func @wide(
// CHECK-SAME:    %[[Q:.*]]: tensor<?x8xf16>, %[[V:.*]]: tensor<?x300xf16>)
// CHECK:         %[[V0:.*]] = tensor.extract_slice %[[V]][0, 0] [%{{.*}}, 256] [1, 1]
// CHECK:         %[[A:.*]], %[[LSE:.*]] = attn.sdpa %[[Q]], %[[Q]], %[[V0]] {{.*}} returning(out, lse)
// CHECK:         %[[R0:.*]] = tensor.insert_slice %[[A]] into %{{.*}}[0, 0] [%{{.*}}, 256] [1, 1]
// CHECK:         %[[V1:.*]] = tensor.extract_slice %[[V]][0, 256] [%{{.*}}, 44] [1, 1]
// CHECK:         %[[B:.*]] = attn.sdpa %[[Q]], %[[Q]], %[[V1]]
// CHECK-NOT:     returning
// CHECK:         %[[R1:.*]] = tensor.insert_slice %[[B]] into %[[R0]][0, 256] [%{{.*}}, 44] [1, 1]
// CHECK:         return %[[R1]], %[[LSE]]
func.func @wide(%q: tensor<?x8xf16>, %v: tensor<?x300xf16>) -> (tensor<?x300xf16>, tensor<?xf32>) {
  %0, %lse = attn.sdpa %q, %q, %v scale 0.3 returning(out, lse) : (tensor<?x8xf16>, tensor<?x8xf16>, tensor<?x300xf16>) -> (tensor<?x300xf16>, tensor<?xf32>)
  return %0, %lse : tensor<?x300xf16>, tensor<?xf32>
}

// -----

// Weights and scores are those of the first part, too.
// CHECK-LABEL: func.func @weights(
// CHECK:         %[[A:.*]], %[[W:.*]], %[[S:.*]] = attn.sdpa {{.*}} returning(out, weights, scores) {{.*}}scores_stage = #attn<scores_stage raw>
// CHECK:         attn.sdpa
// CHECK-NOT:     returning
// CHECK:         return %{{.*}}, %[[W]], %[[S]]
func.func @weights(%q: tensor<4x8xf16>, %v: tensor<4x300xf16>) -> (tensor<4x300xf16>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0, %w, %s = attn.sdpa %q, %q, %v scale 0.3 returning(out, weights, scores) {scores_stage = #attn<scores_stage raw>} : (tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x300xf16>) -> (tensor<4x300xf16>, tensor<4x4xf32>, tensor<4x4xf32>)
  return %0, %w, %s : tensor<4x300xf16>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Where a state is a result, it stays as it is.
// CHECK-LABEL: func.func @state(
// CHECK-NOT:     extract_slice
func.func @state(%q: tensor<4x8xf16>, %v: tensor<4x300xf16>) -> tensor<4x300xf32> {
  %0, %m, %l, %a = attn.sdpa %q, %q, %v scale 0.3 returning(out, state) : (tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x300xf16>) -> (tensor<4x300xf16>, tensor<4xf32>, tensor<4xf32>, tensor<4x300xf32>)
  return %a : tensor<4x300xf32>
}
