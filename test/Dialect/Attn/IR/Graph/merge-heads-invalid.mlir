// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.merge_heads rejects; the numbers are those of docs/Spec.md.

func.func @merge_heads_c1_rank_2(%x: tensor<5x4xf32>) {
  // expected-error@+1 {{expects the joined tensor to have rank 2 or 3, but got 'tensor<20xf32>'}}
  %r = attn.merge_heads %x : tensor<5x4xf32> -> tensor<20xf32>
  return
}

// -----

func.func @merge_heads_c2_same_rank(%x: tensor<2x5x4xf32>) {
  // expected-error@+1 {{expects the split tensor to have one dimension more than the joined}}
  %r = attn.merge_heads %x : tensor<2x5x4xf32> -> tensor<2x5x4xf32>
  return
}

// -----

func.func @merge_heads_c3_unknown_heads(%x: tensor<?x5x4xf32>) {
  // expected-error@+1 {{expects the number of heads and the head dimension to be static}}
  %r = attn.merge_heads %x : tensor<?x5x4xf32> -> tensor<5x8xf32>
  return
}

// -----

func.func @merge_heads_c4_other_product(%x: tensor<2x5x4xf32>) {
  // expected-error@+1 {{expects heads times head dimension to equal the joined dimension, but got 8 and 9}}
  %r = attn.merge_heads %x : tensor<2x5x4xf32> -> tensor<5x9xf32>
  return
}

// -----

func.func @merge_heads_c5_other_length(%x: tensor<2x5x4xf32>) {
  // expected-error@+1 {{expects the same sequence length, but got 5 and 6}}
  %r = attn.merge_heads %x : tensor<2x5x4xf32> -> tensor<6x8xf32>
  return
}

// -----

func.func @merge_heads_c5_other_batch(%x: tensor<3x2x5x4xf32>) {
  // expected-error@+1 {{expects the same batch size, but got 3 and 2}}
  %r = attn.merge_heads %x : tensor<3x2x5x4xf32> -> tensor<2x5x8xf32>
  return
}

// -----

func.func @merge_heads_c6_other_element(%x: tensor<2x5x4xbf16>) {
  // expected-error@+1 {{expects joined and split tensor to have the same element type, but got 'f32' and 'bf16'}}
  %r = attn.merge_heads %x : tensor<2x5x4xbf16> -> tensor<5x8xf32>
  return
}
