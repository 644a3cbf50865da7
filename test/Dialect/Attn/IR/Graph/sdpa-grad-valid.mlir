// RUN: attn-opt %s -verify-diagnostics
// RUN: attn-opt %s | attn-opt -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.sdpa_grad accepts; the numbers are those of docs/Spec.md.

func.func @sdpa_grad_c1_clauses(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %out: tensor<2x4x5x3xf32>, %lse: tensor<2x4x5xf32>, %d: tensor<2x4x5x3xf32>, %b: tensor<6xf32>, %s: tensor<4xf32>) {
  %g = attn.sdpa_grad %q, %k, %v bias %b : tensor<6xf32> scale 0.5 where causal(top_left) sinks %s : tensor<4xf32>
      out %out : tensor<2x4x5x3xf32> lse %lse : tensor<2x4x5xf32> cotangents %d wrt ["sinks"] : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<2x4x5x3xf32>) -> (tensor<4xf32>)
  return
}

func.func @sdpa_grad_c2_softmax_of_one_map(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %out: tensor<2x4x5x3xf32>, %lse: tensor<2x4x5xf32>, %d: tensor<2x4x5x3xf32>) {
  %g = attn.sdpa_grad %q, %k, %v scale 0.5 out %out : tensor<2x4x5x3xf32> lse %lse : tensor<2x4x5xf32> cotangents %d wrt ["query"]
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<2x4x5x3xf32>) -> (tensor<2x4x5x8xf32>)
  return
}

func.func @sdpa_grad_c2_sigmoid_has_no_residuals(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %out: tensor<2x4x5x3xf32>, %lse: tensor<2x4x5xf32>, %d: tensor<2x4x5x3xf32>) {
  %g = attn.sdpa_grad %q, %k, %v scale 0.5  cotangents %d wrt ["query"] {normalization = #attn<normalization sigmoid>}
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<2x4x5x3xf32>) -> (tensor<2x4x5x8xf32>)
  return
}

func.func @sdpa_grad_c2_two_maps_have_no_residuals(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %out: tensor<2x4x5x3xf32>, %lse: tensor<2x4x5xf32>, %d: tensor<2x4x5x3xf32>, %l: tensor<4xf32>) {
  %g = attn.sdpa_grad %q, %k, %v minus %q, %k by %l : tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<4xf32> scale 0.5 cotangents %d wrt ["lambda"]
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<2x4x5x3xf32>) -> (tensor<4xf32>)
  return
}

func.func @sdpa_grad_c3_all_cotangents(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %out: tensor<2x4x5x3xf32>, %lse: tensor<2x4x5xf32>, %d: tensor<2x4x5x3xf32>, %w: tensor<2x4x5x6xf32>) {
  %g = attn.sdpa_grad %q, %k, %v scale 0.5 out %out : tensor<2x4x5x3xf32> lse %lse : tensor<2x4x5xf32> weights %w : tensor<2x4x5x6xf32> cotangents %d lse %lse : tensor<2x4x5xf32> weights %w : tensor<2x4x5x6xf32> wrt ["query"]
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<2x4x5x3xf32>) -> (tensor<2x4x5x8xf32>)
  return
}

func.func @sdpa_grad_c3_weights_of_sigmoid(%q: tensor<5x8xf32>, %w: tensor<5x5xf32>) {
  %g = attn.sdpa_grad %q, %q, %q scale 0.5 cotangents %q weights %w : tensor<5x5xf32> wrt ["query"] {normalization = #attn<normalization sigmoid>}
      : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>)
  return
}

func.func @sdpa_grad_c4_two_of_three(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %out: tensor<2x4x5x3xf32>, %lse: tensor<2x4x5xf32>, %d: tensor<2x4x5x3xf32>) {
  %g:2 = attn.sdpa_grad %q, %k, %v scale 0.5 out %out : tensor<2x4x5x3xf32> lse %lse : tensor<2x4x5xf32> cotangents %d wrt ["value", "query"]
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<2x4x5x3xf32>) -> (tensor<2x2x6x3xf32>, tensor<2x4x5x8xf32>)
  return
}

func.func @sdpa_grad_c5_captured_table(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %out: tensor<2x4x5x3xf32>, %lse: tensor<2x4x5xf32>, %d: tensor<2x4x5x3xf32>, %t: tensor<4xf32>) {
  %g = attn.sdpa_grad %q, %k, %v scale 0.5 score_mod (%s: f32, %b, %h, %i, %j) with (%c = %t : tensor<4xf32>) {
    %x = tensor.extract %c[%h] : tensor<4xf32>
    %y = arith.mulf %s, %x : f32
    attn.yield %y : f32
  } out %out : tensor<2x4x5x3xf32> lse %lse : tensor<2x4x5xf32> cotangents %d wrt ["capture_0"]
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<2x4x5x3xf32>) -> (tensor<4xf32>)
  return
}

func.func @sdpa_grad_c6_statistics_are_f32(%q: tensor<5x8xbf16>, %k: tensor<6x8xbf16>, %v: tensor<6x3xbf16>, %bias: tensor<6xf32>,
    %out: tensor<5x3xf32>, %lse: tensor<5xf32>, %d: tensor<5x3xbf16>) {
  %g:2 = attn.sdpa_grad %q, %k, %v bias %bias : tensor<6xf32> scale 0.5 out %out : tensor<5x3xf32> lse %lse : tensor<5xf32> cotangents %d wrt ["key", "bias"]
      : (tensor<5x8xbf16>, tensor<6x8xbf16>, tensor<6x3xbf16>, tensor<5x3xbf16>) -> (tensor<6x8xbf16>, tensor<6xf32>)
  return
}

func.func @sdpa_grad_c7_schedule_of_many_queries(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %out: tensor<2x4x5x3xf32>, %lse: tensor<2x4x5xf32>, %d: tensor<2x4x5x3xf32>) {
  %g = attn.sdpa_grad %q, %k, %v scale 0.5 out %out : tensor<2x4x5x3xf32> lse %lse : tensor<2x4x5xf32> cotangents %d wrt ["query"] {schedule = #attn.cpu_schedule<lanes = 8, rows = 4, vectors = 2, query_tile = 32, key_tile = 32, unroll = 2, prefetch = 0>}
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<2x4x5x3xf32>) -> (tensor<2x4x5x8xf32>)
  return
}
