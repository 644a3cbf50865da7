// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.split_heads rejects; the numbers are those of docs/Spec.md.

func.func @split_heads_c1_rank_4(%x: tensor<1x2x5x8xf32>) {
  // expected-error@+1 {{expects the joined tensor to have rank 2 or 3, but got 'tensor<1x2x5x8xf32>'}}
  %r = attn.split_heads %x into 2 : tensor<1x2x5x8xf32> -> tensor<1x2x2x5x4xf32>
  return
}

// -----

func.func @split_heads_c2_same_rank(%x: tensor<2x5x8xf32>) {
  // expected-error@+1 {{expects the split tensor to have one dimension more than the joined, but got 'tensor<2x5x4xf32>' and 'tensor<2x5x8xf32>'}}
  %r = attn.split_heads %x into 2 : tensor<2x5x8xf32> -> tensor<2x5x4xf32>
  return
}

// -----

func.func @split_heads_c3_unknown_heads(%x: tensor<5x8xf32>) {
  // expected-error@+1 {{expects the number of heads and the head dimension to be static}}
  %r = attn.split_heads %x into 2 : tensor<5x8xf32> -> tensor<?x5x4xf32>
  return
}

// -----

func.func @split_heads_c3_unknown_head_dimension(%x: tensor<5x?xf32>) {
  // expected-error@+1 {{expects the number of heads and the head dimension to be static}}
  %r = attn.split_heads %x into 2 : tensor<5x?xf32> -> tensor<2x5x?xf32>
  return
}

// -----

func.func @split_heads_c4_other_product(%x: tensor<5x9xf32>) {
  // expected-error@+1 {{expects heads times head dimension to equal the joined dimension, but got 8 and 9}}
  %r = attn.split_heads %x into 2 : tensor<5x9xf32> -> tensor<2x5x4xf32>
  return
}

// -----

func.func @split_heads_c5_other_length(%x: tensor<5x8xf32>) {
  // expected-error@+1 {{expects the same sequence length, but got 6 and 5}}
  %r = attn.split_heads %x into 2 : tensor<5x8xf32> -> tensor<2x6x4xf32>
  return
}

// -----

func.func @split_heads_c5_other_batch(%x: tensor<3x5x8xf32>) {
  // expected-error@+1 {{expects the same batch size, but got 2 and 3}}
  %r = attn.split_heads %x into 2 : tensor<3x5x8xf32> -> tensor<2x2x5x4xf32>
  return
}

// -----

func.func @split_heads_c6_other_element(%x: tensor<5x8xf16>) {
  // expected-error@+1 {{expects joined and split tensor to have the same element type, but got 'f16' and 'f32'}}
  %r = attn.split_heads %x into 2 : tensor<5x8xf16> -> tensor<2x5x4xf32>
  return
}

// -----

func.func @split_heads_c4_product_of_2_to_the_64(%x: tensor<5x0xf32>) {
  // expected-error@+1 {{expects heads times head dimension to be less than 2^63, but got 'tensor<4294967296x5x4294967296xf32>'}}
  %r = attn.split_heads %x into 4294967296 : tensor<5x0xf32> -> tensor<4294967296x5x4294967296xf32>
  return
}

// -----

func.func @split_heads_c7_other_heads_after_into(%x: tensor<5x8xf32>) {
  // expected-error@+1 {{expects as many heads in the result as given after 'into', but got 4 and 2}}
  %r = attn.split_heads %x into 2 : tensor<5x8xf32> -> tensor<4x5x2xf32>
  return
}
