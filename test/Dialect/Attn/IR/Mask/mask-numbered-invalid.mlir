// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Spans are two tables of query rows, and a position has a table exactly where there are spans.

func.func @c13_one_span(%s: tensor<5x7xf32>, %i: tensor<5xi32>, %j: tensor<7xi32>) {
  // expected-error@+1 {{expects document to have two spans, and then neither bounds nor cumulative, or none}}
  %0 = attn.mask %s where document(%i : tensor<5xi32>, %j : tensor<7xi32> spans %i : tensor<5xi32>) : tensor<5x7xf32>
  return
}

// -----

func.func @c13_spans_of_starts(%s: tensor<5x7xf32>, %i: tensor<5xi32>) {
  // expected-error@+1 {{expects document to have two spans, and then neither bounds nor cumulative, or none}}
  %0 = attn.mask %s where document(cumulative %i : tensor<5xi32> spans %i : tensor<5xi32>, %i : tensor<5xi32>) : tensor<5x7xf32>
  return
}

// -----

func.func @c13_span_of_keys(%s: tensor<5x7xf32>, %i: tensor<5xi32>, %j: tensor<7xi32>) {
  // expected-error@+1 {{expects the operand of document to have rows of 5 elements, but got 'tensor<7xi32>'}}
  %0 = attn.mask %s where document(%i : tensor<5xi32>, %j : tensor<7xi32> spans %i : tensor<5xi32>, %j : tensor<7xi32>) : tensor<5x7xf32>
  return
}

// -----

func.func @c13_tables_as_bounds(%s: tensor<5x7xf32>, %i: tensor<5xi32>, %j: tensor<7xi32>) {
  // expected-error@+1 {{expects document to have three bounds of type index, or none}}
  %0 = attn.mask %s where document(%i : tensor<5xi32>, %j : tensor<7xi32> bounds %i : tensor<5xi32>, %i : tensor<5xi32>) : tensor<5x7xf32>
  return
}

// -----

func.func @c6_table_of_keys(%s: tensor<5x7xf32>, %i: tensor<5xi32>, %j: tensor<7xi32>) {
  // expected-error@+1 {{expects the operand of causal to have rows of 5 elements, but got 'tensor<7xi32>'}}
  %0 = attn.mask %s where document(%i : tensor<5xi32>, %j : tensor<7xi32> spans %i : tensor<5xi32>, %i : tensor<5xi32>)
      and causal(top_left in document = %j : tensor<7xi32>) : tensor<5x7xf32>
  return
}

// -----

func.func @c6_window_table_of_keys(%s: tensor<5x7xf32>, %i: tensor<5xi32>, %j: tensor<7xi32>) {
  // expected-error@+1 {{expects the operand of window to have rows of 5 elements, but got 'tensor<7xi32>'}}
  %0 = attn.mask %s where document(%i : tensor<5xi32>, %j : tensor<7xi32> spans %i : tensor<5xi32>, %i : tensor<5xi32>)
      and window(left = 3, top_left in document = %j : tensor<7xi32>) : tensor<5x7xf32>
  return
}

// -----

func.func @c15_table_without_spans(%s: tensor<5x7xf32>, %i: tensor<5xi32>, %d: tensor<3xi32>) {
  // expected-error@+1 {{expects document(.. spans), and no other document, in the conjunction at the top of a mask with a position in document}}
  %0 = attn.mask %s where document(cumulative %d : tensor<3xi32>) and causal(top_left in document = %i : tensor<5xi32>) : tensor<5x7xf32>
  return
}

// -----

func.func @c15_spans_without_table(%s: tensor<5x7xf32>, %i: tensor<5xi32>, %j: tensor<7xi32>) {
  // expected-error@+1 {{expects a table for each position in a document with spans}}
  %0 = attn.mask %s where document(%i : tensor<5xi32>, %j : tensor<7xi32> spans %i : tensor<5xi32>, %i : tensor<5xi32>) and causal(top_left in document) : tensor<5x7xf32>
  return
}

// -----

func.func @c16_origin_of_keys(%s: tensor<5x7xf32>, %i: tensor<5xi32>, %j: tensor<7xi32>) {
  // expected-error@+1 {{expects the operand of chunked to have rows of 5 elements, but got 'tensor<7xi32>'}}
  %0 = attn.mask %s where document(%i : tensor<5xi32>, %j : tensor<7xi32> spans %i : tensor<5xi32>, %i : tensor<5xi32>)
      and chunked(8, from %j : tensor<7xi32>, top_left in document = %i : tensor<5xi32>) : tensor<5x7xf32>
  return
}
