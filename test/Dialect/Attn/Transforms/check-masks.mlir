// RUN: attn-opt %s --attn-check-masks -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @causal_and_its_opposite(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{has a mask that admits no pair of query and key, because these terms contradict each other: k <= q; }}
  %out = attn.sdpa %q, %k, %k scale 1.0 where causal(top_left) and not causal(offset = 2) : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %out : tensor<?x8xf32>
}

// -----

// Three terms, of which two contradict each other.
func.func @only_the_culprits(%q: tensor<2x?x8xf32>, %k: tensor<2x?x8xf32>, %n: tensor<2xi32>) -> tensor<2x?x8xf32> {
  // expected-error-re @+1 {{terms contradict each other: k <= q; {{[^;]*}}{{$}}}}
  %out = attn.sdpa %q, %k, %k scale 1.0 where causal(top_left) and key_length(%n : tensor<2xi32>) and not causal(offset = 2) : (tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return %out : tensor<2x?x8xf32>
}

// -----

// Rows may be empty for some lengths; that is no contradiction.
func.func @some_pairs(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %out = attn.sdpa %q, %k, %k scale 1.0 where causal(top_left) and not causal(offset = -2) : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %out : tensor<?x8xf32>
}
