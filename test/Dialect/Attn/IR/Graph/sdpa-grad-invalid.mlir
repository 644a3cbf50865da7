// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.sdpa_grad rejects; the numbers are those of docs/Spec.md.

func.func @sdpa_grad_c1_scale_of_0(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %out: tensor<2x4x5x3xf32>, %lse: tensor<2x4x5xf32>, %d: tensor<2x4x5x3xf32>) {
  // expected-error@+1 {{expects a finite scale other than 0}}
  %g = attn.sdpa_grad %q, %k, %v scale 0.0 out %out : tensor<2x4x5x3xf32> lse %lse : tensor<2x4x5xf32> cotangents %d wrt ["query"]
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<2x4x5x3xf32>) -> (tensor<2x4x5x8xf32>)
  return
}

// -----

func.func @sdpa_grad_c1_bias(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %out: tensor<2x4x5x3xf32>, %lse: tensor<2x4x5xf32>, %d: tensor<2x4x5x3xf32>, %b: tensor<7xf32>) {
  // expected-error@+1 {{expects the bias to broadcast to the scores}}
  %g = attn.sdpa_grad %q, %k, %v bias %b : tensor<7xf32> scale 0.5 out %out : tensor<2x4x5x3xf32> lse %lse : tensor<2x4x5xf32> cotangents %d wrt ["query"] : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<2x4x5x3xf32>) -> (tensor<2x4x5x8xf32>)
  return
}

// -----

func.func @sdpa_grad_c1_cotangent_of_other_length(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %out: tensor<2x4x5x3xf32>, %lse: tensor<2x4x5xf32>, %d: tensor<2x4x5x3xf32>, %e: tensor<2x4x6x3xf32>) {
  // expected-error@+1 {{expects query and out to have the same length, but got 5 and 6}}
  %g = attn.sdpa_grad %q, %k, %v scale 0.5 out %out : tensor<2x4x5x3xf32> lse %lse : tensor<2x4x5xf32> cotangents %e wrt ["query"]
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<2x4x6x3xf32>) -> (tensor<2x4x5x8xf32>)
  return
}

// -----

func.func @sdpa_grad_c2_without_out(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %out: tensor<2x4x5x3xf32>, %lse: tensor<2x4x5xf32>, %d: tensor<2x4x5x3xf32>) {
  // expected-error@+1 {{expects out and lse of the attention}}
  %g = attn.sdpa_grad %q, %k, %v scale 0.5 lse %lse : tensor<2x4x5xf32> cotangents %d wrt ["query"]
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<2x4x5x3xf32>) -> (tensor<2x4x5x8xf32>)
  return
}

// -----

func.func @sdpa_grad_c2_sigmoid(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %out: tensor<2x4x5x3xf32>, %lse: tensor<2x4x5xf32>, %d: tensor<2x4x5x3xf32>) {
  // expected-error@+1 {{expects neither out nor lse where weights are those of sigmoid or of two maps}}
  %g = attn.sdpa_grad %q, %k, %v scale 0.5 out %out : tensor<2x4x5x3xf32> lse %lse : tensor<2x4x5xf32> cotangents %d wrt ["query"] {normalization = #attn<normalization sigmoid>}
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<2x4x5x3xf32>) -> (tensor<2x4x5x8xf32>)
  return
}

// -----

func.func @sdpa_grad_c2_out_of_f16(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %out: tensor<2x4x5x3xf32>, %lse: tensor<2x4x5xf32>, %d: tensor<2x4x5x3xf32>, %o: tensor<2x4x5x3xf16>) {
  // expected-error@+1 {{expects out to have the shape of its cotangent 'tensor<2x4x5x3xf32>', and its element type or 'f32'}}
  %g = attn.sdpa_grad %q, %k, %v scale 0.5 out %o : tensor<2x4x5x3xf16> lse %lse : tensor<2x4x5xf32> cotangents %d wrt ["query"]
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<2x4x5x3xf32>) -> (tensor<2x4x5x8xf32>)
  return
}

// -----

func.func @sdpa_grad_c2_lse_of_pairs(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %out: tensor<2x4x5x3xf32>, %lse: tensor<2x4x5xf32>, %d: tensor<2x4x5x3xf32>) {
  // expected-error@+1 {{expects lse to have type}}
  %g = attn.sdpa_grad %q, %k, %v scale 0.5 out %out : tensor<2x4x5x3xf32> lse %out : tensor<2x4x5x3xf32> cotangents %d wrt ["query"]
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<2x4x5x3xf32>) -> (tensor<2x4x5x8xf32>)
  return
}

// -----

func.func @sdpa_grad_c2_without_weights(%q: tensor<5x8xf32>, %l: tensor<5xf32>, %w: tensor<5x5xf32>) {
  // expected-error@+1 {{expects the weights that have a cotangent}}
  %g = attn.sdpa_grad %q, %q, %q scale 0.5 out %q : tensor<5x8xf32> lse %l : tensor<5xf32> cotangents %q weights %w : tensor<5x5xf32> wrt ["query"]
      : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>)
  return
}

// -----

func.func @sdpa_grad_c2_weights_without_cotangent(%q: tensor<5x8xf32>, %l: tensor<5xf32>, %w: tensor<5x5xf32>) {
  // expected-error@+1 {{expects no weights, except those of softmax that have a cotangent}}
  %g = attn.sdpa_grad %q, %q, %q scale 0.5 out %q : tensor<5x8xf32> lse %l : tensor<5xf32> weights %w : tensor<5x5xf32> cotangents %q wrt ["query"]
      : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>)
  return
}

// -----

func.func @sdpa_grad_c2_weights_of_other_size(%q: tensor<5x8xf32>, %l: tensor<5xf32>, %w: tensor<5x5xf32>, %x: tensor<5x6xf32>) {
  // expected-error@+1 {{expects weights to have type}}
  %g = attn.sdpa_grad %q, %q, %q scale 0.5 out %q : tensor<5x8xf32> lse %l : tensor<5xf32> weights %x : tensor<5x6xf32> cotangents %q weights %w : tensor<5x5xf32> wrt ["query"]
      : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>)
  return
}

// -----

func.func @sdpa_grad_c3_weights_of_two_maps(%q: tensor<5x8xf32>, %l: tensor<f32>, %w: tensor<5x5xf32>) {
  // expected-error@+1 {{expects no cotangent of weights of two maps}}
  %g = attn.sdpa_grad %q, %q, %q minus %q, %q by %l : tensor<5x8xf32>, tensor<5x8xf32>, tensor<f32> scale 0.5 cotangents %q weights %w : tensor<5x5xf32> wrt ["query"]
      : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>)
  return
}

// -----

func.func @sdpa_grad_c3_cotangent_of_lse(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %out: tensor<2x4x5x3xf32>, %lse: tensor<2x4x5xf32>, %d: tensor<2x4x5x3xf32>) {
  // expected-error@+1 {{expects the cotangent of lse to have type}}
  %g = attn.sdpa_grad %q, %k, %v scale 0.5 out %out : tensor<2x4x5x3xf32> lse %lse : tensor<2x4x5xf32> cotangents %d lse %d : tensor<2x4x5x3xf32> wrt ["query"]
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<2x4x5x3xf32>) -> (tensor<2x4x5x8xf32>)
  return
}

// -----

func.func @sdpa_grad_c3_sigmoid(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %out: tensor<2x4x5x3xf32>, %lse: tensor<2x4x5xf32>, %d: tensor<2x4x5x3xf32>) {
  // expected-error@+1 {{expects no cotangent of lse where the weights are those of sigmoid or of two maps}}
  %g = attn.sdpa_grad %q, %k, %v scale 0.5  cotangents %d lse %lse : tensor<2x4x5xf32> wrt ["query"] {normalization = #attn<normalization sigmoid>}
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<2x4x5x3xf32>) -> (tensor<2x4x5x8xf32>)
  return
}

// -----

func.func @sdpa_grad_c4_nothing_asked(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %out: tensor<2x4x5x3xf32>, %lse: tensor<2x4x5xf32>, %d: tensor<2x4x5x3xf32>) {
  // expected-error@+1 {{expects an operand in wrt per result, and at least one, but got 0 and 1}}
  %g = attn.sdpa_grad %q, %k, %v scale 0.5 out %out : tensor<2x4x5x3xf32> lse %lse : tensor<2x4x5xf32> cotangents %d wrt []
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<2x4x5x3xf32>) -> (tensor<2x4x5x8xf32>)
  return
}

// -----

func.func @sdpa_grad_c4_no_bias(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %out: tensor<2x4x5x3xf32>, %lse: tensor<2x4x5xf32>, %d: tensor<2x4x5x3xf32>) {
  // expected-error@+1 {{expects wrt to name operands, each once, but got 'bias'}}
  %g = attn.sdpa_grad %q, %k, %v scale 0.5 out %out : tensor<2x4x5x3xf32> lse %lse : tensor<2x4x5xf32> cotangents %d wrt ["bias"]
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<2x4x5x3xf32>) -> (tensor<2x4x5x8xf32>)
  return
}

// -----

func.func @sdpa_grad_c4_twice(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %out: tensor<2x4x5x3xf32>, %lse: tensor<2x4x5xf32>, %d: tensor<2x4x5x3xf32>) {
  // expected-error@+1 {{expects wrt to name operands, each once, but got 'query'}}
  %g:2 = attn.sdpa_grad %q, %k, %v scale 0.5 out %out : tensor<2x4x5x3xf32> lse %lse : tensor<2x4x5xf32> cotangents %d wrt ["query", "query"]
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<2x4x5x3xf32>) -> (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>)
  return
}

// -----

func.func @sdpa_grad_c5_captured_integers(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %out: tensor<2x4x5x3xf32>, %lse: tensor<2x4x5xf32>, %d: tensor<2x4x5x3xf32>, %t: tensor<4xi32>) {
  // expected-error@+1 {{expects the gradient of a tensor of floats, but 'capture_0' is 'tensor<4xi32>'}}
  %g = attn.sdpa_grad %q, %k, %v scale 0.5 score_mod (%s: f32, %b, %h, %i, %j) with (%c = %t : tensor<4xi32>) {
    attn.yield %s : f32
  } out %out : tensor<2x4x5x3xf32> lse %lse : tensor<2x4x5xf32> cotangents %d wrt ["capture_0"]
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<2x4x5x3xf32>) -> (tensor<4xf32>)
  return
}

// -----

func.func @sdpa_grad_c6_gradient_of_other_type(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %out: tensor<2x4x5x3xf32>, %lse: tensor<2x4x5xf32>, %d: tensor<2x4x5x3xf32>) {
  // expected-error@+1 {{expects the gradient of 'query' to have type 'tensor<2x4x5x8xf32>', but got 'tensor<2x4x5x8xf64>'}}
  %g = attn.sdpa_grad %q, %k, %v scale 0.5 out %out : tensor<2x4x5x3xf32> lse %lse : tensor<2x4x5xf32> cotangents %d wrt ["query"]
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<2x4x5x3xf32>) -> (tensor<2x4x5x8xf64>)
  return
}

// -----

func.func @sdpa_grad_c7_schedule_of_few_queries(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %out: tensor<2x4x5x3xf32>, %lse: tensor<2x4x5xf32>, %d: tensor<2x4x5x3xf32>) {
  // expected-error@+1 {{expects schedule to have kind prefill, but got decode}}
  %g = attn.sdpa_grad %q, %k, %v scale 0.5 out %out : tensor<2x4x5x3xf32> lse %lse : tensor<2x4x5xf32> cotangents %d wrt ["query"] {schedule = #attn.cpu_schedule<lanes = 8, rows = 1, vectors = 4, query_tile = 1, key_tile = 64, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>}
      : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<2x4x5x3xf32>) -> (tensor<2x4x5x8xf32>)
  return
}

// -----

func.func @sdpa_grad_c1_seed(%q: tensor<5x8xf32>, %l: tensor<5xf32>, %x: tensor<i32>) {
  // expected-error@+1 {{expects a seed of type tensor<i64>, but got 'tensor<i32>'}}
  %g = attn.sdpa_grad %q, %q, %q scale 0.5 dropout 0.5 seed %x : tensor<i32> out %q : tensor<5x8xf32> lse %l : tensor<5xf32> cotangents %q wrt ["query"]
      : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>)
  return
}
