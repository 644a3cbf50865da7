// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the parser says of an attn.sdpa that it does not understand.
func.func @scale_missing(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) {
  // expected-error@+1 {{expected 'scale'}}
  %o = attn.sdpa %q, %k, %v : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @two_inputs(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) {
  // expected-error@+1 {{expected 3 operands}}
  %o = attn.sdpa %q, %k scale 0.5 : (tensor<5x8xf32>, tensor<6x8xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @scale_of_integer(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) {
  // expected-error@+2 {{floating point value}}
  // expected-note@+1 {{add a trailing dot to make the literal a float}}
  %o = attn.sdpa %q, %k, %v scale 1 : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @bias_without_type(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) {
  // expected-error@+1 {{expected ':'}}
  %o = attn.sdpa %q, %k, %v bias %q scale 0.5 : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @results_in_other_order(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) {
  // expected-error@+1 {{expects out, lse, weights, scores and state in this order, but got 'out'}}
  %o, %l = attn.sdpa %q, %k, %v scale 0.5 returning(lse, out) : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> (tensor<5x3xf32>, tensor<5xf32>)
  return
}

// -----

func.func @result_twice(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) {
  // expected-error@+1 {{expects out, lse, weights, scores and state in this order, but got 'out'}}
  %o, %l = attn.sdpa %q, %k, %v scale 0.5 returning(out, out) : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> (tensor<5x3xf32>, tensor<5xf32>)
  return
}

// -----

func.func @result_unknown(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) {
  // expected-error@+1 {{in this order, but got 'max'}}
  %o, %l = attn.sdpa %q, %k, %v scale 0.5 returning(out, max) : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> (tensor<5x3xf32>, tensor<5xf32>)
  return
}

// -----

func.func @out_missing(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) {
  // expected-error@+1 {{expects out among the results}}
  %l = attn.sdpa %q, %k, %v scale 0.5 returning(lse) : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @types_for_two_inputs(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) {
  // expected-error@+1 {{expects types for 3 inputs and 1 results, but got 2 and 1}}
  %o = attn.sdpa %q, %k, %v scale 0.5 : (tensor<5x8xf32>, tensor<6x8xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @types_for_two_results(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) {
  // expected-error@+1 {{expects types for 3 inputs and 1 results, but got 3 and 2}}
  %o, %l = attn.sdpa %q, %k, %v scale 0.5 : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> (tensor<5x3xf32>, tensor<5xf32>)
  return
}

// -----

func.func @scale_twice(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) {
  // expected-error@+1 {{'scale' has a place of its own in the syntax}}
  %o = attn.sdpa %q, %k, %v scale 0.5 {scale = 2.0} : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @layout_of_integer(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) {
  // expected-error@+1 {{attribute 'query_layout' failed to satisfy constraint}}
  %o = attn.sdpa %q, %k, %v scale 0.5 {query_layout = 1 : i32} : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @layout_unknown(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) {
  // expected-error@+2 {{expected ::attn::Layout to be one of: bhsd, bshd}}
  // expected-error@+1 {{failed to parse}}
  %o = attn.sdpa %q, %k, %v scale 0.5 {query_layout = #attn<layout sbhd>} : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> tensor<5x3xf32>
  return
}
