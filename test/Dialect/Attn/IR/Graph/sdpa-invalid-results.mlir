// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.sdpa rejects about results; the numbers are those of docs/Spec.md.

func.func @sdpa_c11_scores_without_stage(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  // expected-error@+1 {{expects scores_stage exactly where scores are returned}}
  %r0, %r1 = attn.sdpa %q, %k, %v scale 0.5 returning(out, scores)
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> (tensor<2x4x5x3xf32>, tensor<2x4x5x6xf32>)
  return
}

// -----

func.func @sdpa_c11_stage_without_scores(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  // expected-error@+1 {{expects scores_stage exactly where scores are returned}}
  %r0 = attn.sdpa %q, %k, %v scale 0.5 {scores_stage = #attn<scores_stage raw>}
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

// -----

func.func @sdpa_c12_lse_of_f16(%q: tensor<5x8xf16>, %k: tensor<6x8xf16>, %v: tensor<6x3xf16>) {
  // expected-error@+1 {{expects lse to have type 'tensor<5xf32>', but got 'tensor<5xf16>'}}
  %r0, %r1 = attn.sdpa %q, %k, %v scale 0.5 returning(out, lse)
      : (tensor<5x8xf16>, tensor<6x8xf16>, tensor<6x3xf16>) -> (tensor<5x3xf16>, tensor<5xf16>)
  return
}

// -----

func.func @sdpa_c12_lse_in_layout_of_query(%q: tensor<2x5x4x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  // expected-error@+1 {{expects lse to have type 'tensor<2x4x5xf32>', but got 'tensor<2x5x4xf32>'}}
  %r0, %r1 = attn.sdpa %q, %k, %v scale 0.5 returning(out, lse) {query_layout = #attn<layout bshd>}
      : (tensor<2x5x4x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> (tensor<2x4x5x3xf32>, tensor<2x5x4xf32>)
  return
}

// -----

func.func @sdpa_c12_weights_of_other_shape(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  // expected-error@+1 {{expects weights to have type 'tensor<2x4x5x6xf32>', but got 'tensor<2x4x6x5xf32>'}}
  %r0, %r1 = attn.sdpa %q, %k, %v scale 0.5 returning(out, weights)
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> (tensor<2x4x5x3xf32>, tensor<2x4x6x5xf32>)
  return
}

// -----

func.func @sdpa_c12_scores_of_other_rank(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) {
  // expected-error@+1 {{expects scores to have type 'tensor<2x4x5x6xf32>', but got 'tensor<5x6xf32>'}}
  %r0, %r1 = attn.sdpa %q, %k, %v scale 0.5 returning(out, scores) {scores_stage = #attn<scores_stage raw>}
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> (tensor<2x4x5x3xf32>, tensor<5x6xf32>)
  return
}

// -----

func.func @sdpa_c17_maximum_of_other_shape(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>) {
  // expected-error@+1 {{expects maximum to have type 'tensor<4x5xf32>', but got 'tensor<5x4xf32>'}}
  %r:4 = attn.sdpa %q, %k, %v scale 0.5 returning(out, state)
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<4x5x3xf32>, tensor<5x4xf32>, tensor<4x5xf32>, tensor<4x5x3xf32>)
  return
}

// -----

func.func @sdpa_c17_sum_of_other_type(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>) {
  // expected-error@+1 {{expects sum to have type 'tensor<4x5xf32>', but got 'tensor<4x5xf64>'}}
  %r:4 = attn.sdpa %q, %k, %v scale 0.5 returning(out, state)
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5xf32>, tensor<4x5xf64>, tensor<4x5x3xf32>)
  return
}

// -----

func.func @sdpa_c17_acc_of_other_layout(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>) {
  // expected-error@+1 {{expects acc to have type 'tensor<5x4x3xf32>', but got 'tensor<4x5x3xf32>'}}
  %r:4 = attn.sdpa %q, %k, %v scale 0.5 returning(out, state) {out_layout = #attn<layout bshd>}
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<5x4x3xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5x3xf32>)
  return
}

// -----

func.func @sdpa_c17_maximum_alone(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>) {
  // expected-error@+1 {{expects all of maximum, sum and acc where one is returned}}
  %r:2 = "attn.sdpa"(%q, %k, %v) <{scale = 0.5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 1, 0, 0>}> ({})
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5xf32>)
  return
}

// -----

func.func @sdpa_c18_sinks(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>, %s: tensor<4xf32>) {
  // expected-error@+1 {{expects no sinks where the state is returned, because a sink would count once per part of the keys; merge a state of maximum sink, sum 1 and acc 0 instead}}
  %r:4 = attn.sdpa %q, %k, %v scale 0.5 sinks %s : tensor<4xf32> returning(out, state)
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5x3xf32>)
  return
}
