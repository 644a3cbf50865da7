// RUN: attn-opt %s --attn-check-masks -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @causal_and_its_opposite(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{has a mask that admits no pair of query and key, because these terms contradict each other: causal (k <= q); not causal (k >= q + 3)}}
  %out = attn.sdpa %q, %k, %k scale 1.0 where causal(top_left) and not causal(offset = 2) : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %out : tensor<?x8xf32>
}

// -----

// Three terms, of which two contradict each other.
func.func @only_the_culprits(%q: tensor<2x?x8xf32>, %k: tensor<2x?x8xf32>, %n: tensor<2xi32>) -> tensor<2x?x8xf32> {
  // expected-error @+1 {{terms contradict each other: causal (k <= q); not causal (k >= q + 3)}}
  %out = attn.sdpa %q, %k, %k scale 1.0 where causal(top_left) and key_length(%n : tensor<2xi32>) and not causal(offset = 2) : (tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return %out : tensor<2x?x8xf32>
}

// -----

// Rows may be empty for some lengths; that is no contradiction.
func.func @some_pairs(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %out = attn.sdpa %q, %k, %k scale 1.0 where causal(top_left) and not causal(offset = -2) : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %out : tensor<?x8xf32>
}

// -----

func.func @window_of_the_past_and_the_future(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{terms contradict each other: window (k >= q - 4 and k <= q); causal (k <= q - 5)}}
  %out = attn.sdpa %q, %k, %k scale 1.0 where window(left = 4, right = 0) and causal(offset = -5) : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %out : tensor<?x8xf32>
}

// -----

// Three terms that need each other: multiples of 4, and not 0, but within 3.
func.func @dilated_beyond_the_window(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %m: tensor<?x?xi1>) -> tensor<?x8xf32> {
  // expected-error @+1 {{terms contradict each other: dilated (}}
  %out = attn.sdpa %q, %k, %k scale 1.0 where dilated(4) and %m : tensor<?x?xi1> and window(left = 3) and causal(offset = -1) : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %out : tensor<?x8xf32>
}

// -----

func.func @bitmap_of_zeros(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{has a mask that admits no pair of query and key: block (false)}}
  %out = attn.sdpa %q, %k, %k scale 1.0 where block(4, 4, bits = [[0, 0]]) : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %out : tensor<?x8xf32>
}

// -----

func.func @predicate_of_nothing(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{has a mask that admits no pair of query and key: predicate (}}
  %out = attn.sdpa %q, %k, %k scale 1.0 where predicate(#attn.program<<"arith.cmpi", [2, 2], {predicate = 2 : i64}, i1>>) : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %out : tensor<?x8xf32>
}

// -----

// Two contradictions share a term; one of them is named, with both of its terms.
func.func @two_contradictions(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{because these terms contradict each other: causal (k <= q + 1); not causal (k >= q + 3)}}
  %out = attn.sdpa %q, %k, %k scale 1.0 where causal(top_left) and causal(offset = 1) and not causal(offset = 2) : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %out : tensor<?x8xf32>
}

// -----

// A term that admits nothing by itself is named alone.
func.func @one_culprit(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{admits no pair of query and key: block (false)}}
  %out = attn.sdpa %q, %k, %k scale 1.0 where causal(top_left) and block(4, 4, bits = [[0, 0]]) : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %out : tensor<?x8xf32>
}

// -----

// Every alternative contradicts itself.
func.func @alternatives(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{admits no pair of query and key: or ((k <= q and k >= q + 3) or (k <= 2 and k >= 5))}}
  %out = attn.sdpa %q, %k, %k scale 1.0 where causal(top_left) and not causal(offset = 2) or sink(3) and not prefix(5) : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %out : tensor<?x8xf32>
}

// -----

// Operands decide: not refused, whatever they may hold.
func.func @operands_decide(%q: tensor<2x?x8xf32>, %k: tensor<2x?x8xf32>, %n: tensor<2xi32>, %m: tensor<2xi32>) -> tensor<2x?x8xf32> {
  %out = attn.sdpa %q, %k, %k scale 1.0 where prefix(%n : tensor<2xi32>) and not prefix(%m : tensor<2xi32>) : (tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return %out : tensor<2x?x8xf32>
}

// -----

// One document per query tile or none: the number of keys is not known.
func.func @documents(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %i: tensor<?xi32>) -> tensor<?x8xf32> {
  %out = attn.sdpa %q, %k, %k scale 1.0 where document(%i : tensor<?xi32>) and window(left = 0, right = 0) : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %out : tensor<?x8xf32>
}

// -----

// The lengths are known.
func.func @behind_the_last_query(%q: tensor<2x16x8xf32>) -> tensor<2x16x8xf32> {
  // expected-error @+1 {{has a mask that admits no pair of 16 queries and 16 keys: causal (k <= q - 16)}}
  %out = attn.sdpa %q, %q, %q scale 1.0 where causal(offset = -16) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> tensor<2x16x8xf32>
  return %out : tensor<2x16x8xf32>
}

// -----

func.func @one_pair(%q: tensor<2x16x8xf32>) -> tensor<2x16x8xf32> {
  %out = attn.sdpa %q, %q, %q scale 1.0 where causal(offset = -15) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> tensor<2x16x8xf32>
  return %out : tensor<2x16x8xf32>
}

// -----

func.func @no_queries(%q: tensor<2x0x8xf32>, %k: tensor<2x16x8xf32>) -> tensor<2x0x8xf32> {
  %out = attn.sdpa %q, %k, %k scale 1.0 where causal(top_left) : (tensor<2x0x8xf32>, tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> tensor<2x0x8xf32>
  return %out : tensor<2x0x8xf32>
}
