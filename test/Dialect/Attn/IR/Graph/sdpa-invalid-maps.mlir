// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.sdpa rejects about a second map; the numbers are those of docs/Spec.md.

func.func @sdpa_c21_query_alone(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>) {
  // expected-error@+1 {{expects all of second query, second key and lambda where one is given}}
  %r = "attn.sdpa"(%q, %k, %v, %q) <{scale = 0.5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0>}> ({})
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>, tensor<4x5x8xf32>) -> tensor<4x5x3xf32>
  return
}

// -----

func.func @sdpa_c21_lambda_left_out(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>) {
  // expected-error@+1 {{expects all of second query, second key and lambda where one is given}}
  %r = "attn.sdpa"(%q, %k, %v, %q, %k) <{scale = 0.5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0>}> ({})
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>, tensor<4x5x8xf32>, tensor<2x6x8xf32>) -> tensor<4x5x3xf32>
  return
}

// -----

func.func @sdpa_c21_other_query(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>, %p: tensor<?x5x8xf32>, %l: tensor<f32>) {
  // expected-error@+1 {{expects the second query to have the type of the first 'tensor<4x5x8xf32>', but got 'tensor<?x5x8xf32>'}}
  %r = "attn.sdpa"(%q, %k, %v, %p, %k, %l) <{scale = 0.5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0>}> ({})
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>, tensor<?x5x8xf32>, tensor<2x6x8xf32>, tensor<f32>) -> tensor<4x5x3xf32>
  return
}

// -----

func.func @sdpa_c21_other_key(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>, %p: tensor<1x6x8xf32>, %l: tensor<f32>) {
  // expected-error@+1 {{expects the second key to have the type of the first 'tensor<2x6x8xf32>', but got 'tensor<1x6x8xf32>'}}
  %r = "attn.sdpa"(%q, %k, %v, %q, %p, %l) <{scale = 0.5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0>}> ({})
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>, tensor<4x5x8xf32>, tensor<1x6x8xf32>, tensor<f32>) -> tensor<4x5x3xf32>
  return
}

// -----

func.func @sdpa_c21_lambda_of_other_heads(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>, %l: tensor<2xf32>) {
  // expected-error@+1 {{expects lambda to be one number of 'f32', or one per head (4), but got 'tensor<2xf32>'}}
  %r = attn.sdpa %q, %k, %v minus %q, %k by %l : tensor<2xf32> scale 0.5
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> tensor<4x5x3xf32>
  return
}

// -----

func.func @sdpa_c22_lse(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>, %l: tensor<f32>) {
  // expected-error@+1 {{expects no lse with a second query and key}}
  %r:2 = attn.sdpa %q, %k, %v minus %q, %k by %l : tensor<f32> scale 0.5 returning(out, lse)
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5xf32>)
  return
}

// -----

func.func @sdpa_c22_weights(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>, %l: tensor<f32>) {
  // expected-error@+1 {{expects no weights with a second query and key}}
  %r:2 = attn.sdpa %q, %k, %v minus %q, %k by %l : tensor<f32> scale 0.5 returning(out, weights)
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5x6xf32>)
  return
}

// -----

func.func @sdpa_c22_scores(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>, %l: tensor<f32>) {
  // expected-error@+1 {{expects no scores with a second query and key}}
  %r:2 = attn.sdpa %q, %k, %v minus %q, %k by %l : tensor<f32> scale 0.5 returning(out, scores) {scores_stage = #attn<scores_stage raw>}
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5x6xf32>)
  return
}

// -----

func.func @sdpa_c22_state(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>, %l: tensor<f32>) {
  // expected-error@+1 {{expects no state with a second query and key}}
  %r:4 = attn.sdpa %q, %k, %v minus %q, %k by %l : tensor<f32> scale 0.5 returning(out, state)
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5x3xf32>)
  return
}

// -----

func.func @sdpa_c22_decode(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>, %l: tensor<f32>) {
  // expected-error@+1 {{expects no decode_schedule with a second query and key}}
  %r = attn.sdpa %q, %k, %v minus %q, %k by %l : tensor<f32> scale 0.5 {decode_schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>}
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> tensor<4x5x3xf32>
  return
}
