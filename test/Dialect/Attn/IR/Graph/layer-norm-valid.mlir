// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.layer_norm accepts; the numbers are those of docs/Spec.md.

func.func @layer_norm_c1_rank_3(%x: tensor<4x5x8xf16>) {
  %r = attn.layer_norm %x eps 1.0e-6 : tensor<4x5x8xf16>
  return
}

func.func @layer_norm_c2_same_type(%x: tensor<?x8xf32>) {
  %r = attn.layer_norm %x eps 1.0e-6 : tensor<?x8xf32>
  return
}

func.func @layer_norm_c3_zero(%x: tensor<?x8xf32>) {
  %r = attn.layer_norm %x eps 0.0 : tensor<?x8xf32>
  return
}

func.func @layer_norm_c4_weight(%x: tensor<?x8xf32>, %w: tensor<8xf32>) {
  %r = attn.layer_norm %x, %w eps 1.0e-6 : tensor<?x8xf32>, tensor<8xf32>
  return
}

func.func @layer_norm_c5_bias(%x: tensor<?x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) {
  %r = attn.layer_norm %x, %w, %b eps 0.0 : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
  return
}
