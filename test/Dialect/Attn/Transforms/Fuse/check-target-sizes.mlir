// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Head dimensions are static and not too large; numbers of heads of query and key are both known or both unknown.
// RUN: attn-opt %s --attn-check-target --split-input-file --verify-diagnostics

func.func @query_heads(%q: tensor<?x?x?x64xf32>, %k: tensor<?x8x?x64xf32>, %v: tensor<?x8x?x64xf32>) -> tensor<?x?x?x64xf32> {
  // expected-error @below {{expects known numbers of heads of query and key, or none that is known, on this target, but got 'tensor<?x?x?x64xf32>' and 'tensor<?x8x?x64xf32>'}}
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<?x?x?x64xf32>, tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>) -> tensor<?x?x?x64xf32>
  return %o : tensor<?x?x?x64xf32>
}

// -----

func.func @key_heads(%q: tensor<?x8x?x64xf32>, %k: tensor<?x?x?x64xf32>, %v: tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32> {
  // expected-error @below {{expects known numbers of heads of query and key, or none that is known, on this target, but got 'tensor<?x8x?x64xf32>' and 'tensor<?x?x?x64xf32>'}}
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<?x8x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32>
  return %o : tensor<?x8x?x64xf32>
}

// -----

// Those of the keys.
func.func @value_heads(%q: tensor<?x8x?x64xf32>, %k: tensor<?x8x?x64xf32>, %v: tensor<?x?x?x64xf32>) -> tensor<?x8x?x64xf32> {
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>, tensor<?x?x?x64xf32>) -> tensor<?x8x?x64xf32>
  return %o : tensor<?x8x?x64xf32>
}

// -----

func.func @query_dim(%q: tensor<?x8x?x?xf32>, %k: tensor<?x8x?x64xf32>, %v: tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32> {
  // expected-error @below {{expects the head dimension of its query to be static on this target}}
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<?x8x?x?xf32>, tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>) -> tensor<?x8x?x64xf32>
  return %o : tensor<?x8x?x64xf32>
}

// -----

func.func @value_dim(%q: tensor<?x8x?x64xf32>, %k: tensor<?x8x?x64xf32>, %v: tensor<?x8x?x?xf32>) -> tensor<?x8x?x?xf32> {
  // expected-error @below {{expects the head dimension of its value to be static on this target}}
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>, tensor<?x8x?x?xf32>) -> tensor<?x8x?x?xf32>
  return %o : tensor<?x8x?x?xf32>
}

// -----

func.func @large(%q: tensor<2x1025xf32>, %k: tensor<2x1025xf32>, %v: tensor<2x1025xf32>) -> tensor<2x1025xf32> {
  // expected-error @below {{expects a head dimension of at most 1024 on this target, but its query has 1025}}
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<2x1025xf32>, tensor<2x1025xf32>, tensor<2x1025xf32>) -> tensor<2x1025xf32>
  return %o : tensor<2x1025xf32>
}

// -----

func.func @large_value(%q: tensor<2x4xf32>, %k: tensor<2x4xf32>, %v: tensor<2x1100xf32>) -> tensor<2x1100xf32> {
  // expected-error @below {{expects a head dimension of at most 1024 on this target, but its value has 1100}}
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x1100xf32>) -> tensor<2x1100xf32>
  return %o : tensor<2x1100xf32>
}

// -----

func.func @no_heads_known(%q: tensor<?x?x?x64xf32>) -> tensor<?x?x?x64xf32> {
  %o = attn.sdpa %q, %q, %q scale 1.0 : (tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>) -> tensor<?x?x?x64xf32>
  return %o : tensor<?x?x?x64xf32>
}

// -----

// Eight heads of queries and keys, and as many rows of values.
func.func @layout(%q: tensor<2x?x8x64xf32>) -> tensor<2x?x8x64xf32> {
  %o = attn.sdpa %q, %q, %q scale 1.0 {query_layout = #attn<layout bshd>, key_layout = #attn<layout bshd>, out_layout = #attn<layout bshd>} : (tensor<2x?x8x64xf32>, tensor<2x?x8x64xf32>, tensor<2x?x8x64xf32>) -> tensor<2x?x8x64xf32>
  return %o : tensor<2x?x8x64xf32>
}
