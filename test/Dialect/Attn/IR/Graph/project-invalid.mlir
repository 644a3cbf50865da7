// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.project rejects; the numbers are those of docs/Spec.md.

func.func @project_c1_rank_1(%x: tensor<6xf32>, %w: tensor<6x4xf32>) {
  // expected-error@+1 {{expects the input to have rank 2 or 3, but got 'tensor<6xf32>'}}
  %r = attn.project %x, %w : (tensor<6xf32>, tensor<6x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @project_c1_rank_4(%x: tensor<1x2x5x6xf32>, %w: tensor<6x4xf32>) {
  // expected-error@+1 {{expects the input to have rank 2 or 3}}
  %r = attn.project %x, %w : (tensor<1x2x5x6xf32>, tensor<6x4xf32>) -> tensor<1x2x5x4xf32>
  return
}

// -----

func.func @project_c2_weight_of_rank_3(%x: tensor<5x6xf32>, %w: tensor<2x6x4xf32>) {
  // expected-error@+1 {{expects the weight to have rank 2, or 3 where the input has, but got 'tensor<2x6x4xf32>'}}
  %r = attn.project %x, %w : (tensor<5x6xf32>, tensor<2x6x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @project_c2_other_batch(%x: tensor<2x5x6xf32>, %w: tensor<3x6x4xf32>) {
  // expected-error@+1 {{expects a weight per batch entry, but got 3 and 2}}
  %r = attn.project %x, %w : (tensor<2x5x6xf32>, tensor<3x6x4xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

func.func @project_c4_transposed(%x: tensor<5x6xf32>, %w: tensor<6x4xf32>) {
  // expected-error@+1 {{expects the input's last dimension to equal the weight's rows, but got 6 and 4}}
  %r = attn.project %x, %w transposed : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @project_c3_result_of_other_rank(%x: tensor<5x6xf32>, %w: tensor<6x4xf32>) {
  // expected-error@+1 {{expects input and result to have the same rank}}
  %r = attn.project %x, %w : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<1x5x4xf32>
  return
}

// -----

func.func @project_c3_other_leading(%x: tensor<5x6xf32>, %w: tensor<6x4xf32>) {
  // expected-error@+1 {{expects input and result to agree in their leading dimensions, but got 5 and 7}}
  %r = attn.project %x, %w : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<7x4xf32>
  return
}

// -----

func.func @project_c4_other_inner(%x: tensor<5x6xf32>, %w: tensor<7x4xf32>) {
  // expected-error@+1 {{expects the input's last dimension to equal the weight's rows, but got 6 and 7}}
  %r = attn.project %x, %w : (tensor<5x6xf32>, tensor<7x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @project_c5_other_outer(%x: tensor<5x6xf32>, %w: tensor<6x4xf32>) {
  // expected-error@+1 {{expects the result's last dimension to equal the weight's columns, but got 3 and 4}}
  %r = attn.project %x, %w : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @project_c6_weight_of_other_element(%x: tensor<5x6xf32>, %w: tensor<6x4xf64>) {
  // expected-error@+1 {{expects input, weight, bias and result to be all of f64, or none of them}}
  %r = attn.project %x, %w : (tensor<5x6xf32>, tensor<6x4xf64>) -> tensor<5x4xf32>
  return
}

// -----

func.func @project_c6_result_of_other_element(%x: tensor<5x6xf16>, %w: tensor<6x4xf16>) {
  // expected-error@+1 {{expects input, weight, bias and result to be all of f64, or none of them}}
  %r = attn.project %x, %w : (tensor<5x6xf16>, tensor<6x4xf16>) -> tensor<5x4xf64>
  return
}

// -----

func.func @project_c7_bias_of_rank_2(%x: tensor<5x6xf32>, %w: tensor<6x4xf32>, %b: tensor<1x4xf32>) {
  // expected-error@+1 {{expects the bias to have rank 1, but got 'tensor<1x4xf32>'}}
  %r = attn.project %x, %w, %b : (tensor<5x6xf32>, tensor<6x4xf32>, tensor<1x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @project_c7_bias_of_other_size(%x: tensor<5x6xf32>, %w: tensor<6x4xf32>, %b: tensor<6xf32>) {
  // expected-error@+1 {{expects a bias per column of the weight, but got 6 and 4}}
  %r = attn.project %x, %w, %b : (tensor<5x6xf32>, tensor<6x4xf32>, tensor<6xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @project_c6_bias_of_other_element(%x: tensor<5x6xf32>, %w: tensor<6x4xf32>, %b: tensor<4xf64>) {
  // expected-error@+1 {{expects input, weight, bias and result to be all of f64, or none of them}}
  %r = attn.project %x, %w, %b : (tensor<5x6xf32>, tensor<6x4xf32>, tensor<4xf64>) -> tensor<5x4xf32>
  return
}

// -----

func.func @project_c8_pairs(%x: tensor<5x6xf16>, %w: tensor<6x4xbf16>) {
  // expected-error@+1 {{expects elements of bf16 for products = dot, but got 'tensor<5x6xf16>'}}
  %r = attn.project %x, %w {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>} : (tensor<5x6xf16>, tensor<6x4xbf16>) -> tensor<5x4xbf16>
  return
}

// -----

func.func @project_c8_tiles(%x: tensor<5x6xbf16>, %w: tensor<6x4xf32>) {
  // expected-error@+1 {{expects elements of bf16 for products = amx, but got 'tensor<6x4xf32>'}}
  %r = attn.project %x, %w {schedule = #attn.cpu_schedule<lanes = 16, rows = 32, vectors = 2, query_tile = 32, key_tile = 64, unroll = 1, prefetch = 0, products = amx>} : (tensor<5x6xbf16>, tensor<6x4xf32>) -> tensor<5x4xbf16>
  return
}

// -----

func.func @project_c9_pairs(%x: tensor<?x6xbf16>, %w: tensor<6x4xbf16>) {
  // expected-error@+1 {{expects few_rows_schedule to have products = fma beside a schedule of pairs or tiles, but got #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>}}
  %r = attn.project %x, %w {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>, few_rows_schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>} : (tensor<?x6xbf16>, tensor<6x4xbf16>) -> tensor<?x4xbf16>
  return
}

// -----

func.func @project_c9_beside_numbers(%x: tensor<?x6xbf16>, %w: tensor<6x4xbf16>) {
  // expected-error@+1 {{expects few_rows_schedule to have products = fma beside a schedule of pairs or tiles, but got #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>}}
  %r = attn.project %x, %w {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>, few_rows_schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>} : (tensor<?x6xbf16>, tensor<6x4xbf16>) -> tensor<?x4xbf16>
  return
}

// -----

func.func @project_c9_alone(%x: tensor<?x6xbf16>, %w: tensor<6x4xbf16>) {
  // expected-error@+1 {{expects few_rows_schedule to have products = fma beside a schedule of pairs or tiles, but got #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>}}
  %r = attn.project %x, %w {few_rows_schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>} : (tensor<?x6xbf16>, tensor<6x4xbf16>) -> tensor<?x4xbf16>
  return
}
