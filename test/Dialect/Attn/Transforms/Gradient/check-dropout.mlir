// Dropout is for functions that learn, or say that they want it.
// RUN: attn-opt %s --attn-check-dropout --split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @learns(%w: tensor<5x6xf32> {attn.gradient}, %x: tensor<i64>) -> tensor<5x6xf32> {
  %d = attn.dropout %w by 0.5 seed %x : tensor<5x6xf32>, tensor<i64>
  return %d : tensor<5x6xf32>
}

func.func @asks(%w: tensor<5x6xf32>, %x: tensor<i64>) -> tensor<5x6xf32> attributes {attn.dropout} {
  %d = attn.dropout %w by 0.5 seed %x : tensor<5x6xf32>, tensor<i64>
  return %d : tensor<5x6xf32>
}

// -----

func.func @inference(%w: tensor<5x6xf32>, %x: tensor<i64>) -> tensor<5x6xf32> {
  // expected-error@+1 {{'attn.dropout' op stands in a function that learns nothing, and drops weights; leave dropout out for inference, or give the function the attribute attn.dropout}}
  %d = attn.dropout %w by 0.5 seed %x : tensor<5x6xf32>, tensor<i64>
  return %d : tensor<5x6xf32>
}

// -----

func.func @fused(%q: tensor<5x8xf32>, %x: tensor<i64>) -> tensor<5x8xf32> {
  // expected-error@+1 {{'attn.sdpa' op stands in a function that learns nothing}}
  %o = attn.sdpa %q, %q, %q scale 0.5 dropout 0.5 seed %x : tensor<i64> : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}
