// What no kernel computes is refused by name, where kernels are asked for.
// RUN: attn-opt %s --attn-check-gradients --split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @accepted(%q: tensor<?x8xf64>, %o: tensor<?x8xf64>, %l: tensor<?xf64>) -> tensor<?x8xf64> {
  %g = attn.sdpa_grad %q, %q, %q scale 0.5 where causal(top_left) out %o : tensor<?x8xf64> lse %l : tensor<?xf64> cotangents %o wrt ["key"]
      : (tensor<?x8xf64>, tensor<?x8xf64>, tensor<?x8xf64>, tensor<?x8xf64>) -> (tensor<?x8xf64>)
  return %g : tensor<?x8xf64>
}

// -----

func.func @sixteen_bits(%q: tensor<5x8xbf16>, %o: tensor<5x8xf32>, %l: tensor<5xf32>) -> tensor<5x8xbf16> {
  %g = attn.sdpa_grad %q, %q, %q scale 0.5 out %o : tensor<5x8xf32> lse %l : tensor<5xf32> cotangents %q wrt ["query"]
      : (tensor<5x8xbf16>, tensor<5x8xbf16>, tensor<5x8xbf16>, tensor<5x8xbf16>) -> (tensor<5x8xbf16>)
  return %g : tensor<5x8xbf16>
}

// -----

func.func @eight_bits(%q: tensor<5x8xf8E5M2>, %l: tensor<5xf32>) -> tensor<5x8xf8E5M2> {
  // expected-error@+1 {{'attn.sdpa_grad' op has no kernel on this target for elements that are neither f16, bf16, f32 nor f64}}
  %g = attn.sdpa_grad %q, %q, %q scale 0.5 out %q : tensor<5x8xf8E5M2> lse %l : tensor<5xf32> cotangents %q wrt ["query"]
      : (tensor<5x8xf8E5M2>, tensor<5x8xf8E5M2>, tensor<5x8xf8E5M2>, tensor<5x8xf8E5M2>) -> (tensor<5x8xf8E5M2>)
  return %g : tensor<5x8xf8E5M2>
}

// -----

func.func @function(%q: tensor<5x8xf32>, %l: tensor<5xf32>) -> tensor<5x8xf32> {
  %g = attn.sdpa_grad %q, %q, %q scale 0.5 score_mod (%s: f32, %b, %h, %i, %j) {
    attn.yield %s : f32
  } out %q : tensor<5x8xf32> lse %l : tensor<5xf32> cotangents %q wrt ["query"]
      : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>)
  return %g : tensor<5x8xf32>
}

// -----

func.func @sigmoid(%q: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %g = attn.sdpa_grad %q, %q, %q scale 0.5 cotangents %q wrt ["query"] {normalization = #attn<normalization sigmoid>}
      : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>)
  return %g : tensor<5x8xf32>
}

// -----

func.func @weights(%q: tensor<5x8xf32>, %l: tensor<5xf32>, %w: tensor<5x5xf32>) -> tensor<5x8xf32> {
  %g = attn.sdpa_grad %q, %q, %q scale 0.5 out %q : tensor<5x8xf32> lse %l : tensor<5xf32> weights %w : tensor<5x5xf32> cotangents %q weights %w : tensor<5x5xf32> wrt ["query"]
      : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>)
  return %g : tensor<5x8xf32>
}

// -----

func.func @bias(%q: tensor<5x8xf32>, %l: tensor<5xf32>, %b: tensor<5x5xf32>) -> tensor<5x5xf32> {
  %g = attn.sdpa_grad %q, %q, %q bias %b : tensor<5x5xf32> scale 0.5 out %q : tensor<5x8xf32> lse %l : tensor<5xf32> cotangents %q wrt ["bias"]
      : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<5x5xf32>)
  return %g : tensor<5x5xf32>
}

// -----

func.func @documents(%q: tensor<5x8xf32>, %l: tensor<5xf32>, %ids: tensor<5xi32>) -> tensor<5x8xf32> {
  %g = attn.sdpa_grad %q, %q, %q scale 0.5 where document(%ids : tensor<5xi32>) out %q : tensor<5x8xf32> lse %l : tensor<5xf32> cotangents %q wrt ["query"]
      : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>)
  return %g : tensor<5x8xf32>
}

// -----

func.func @features(%q: tensor<5x?xf32>, %l: tensor<5xf32>) -> tensor<5x?xf32> {
  // expected-error@+1 {{has no kernel on this target for an unknown number of features}}
  %g = attn.sdpa_grad %q, %q, %q scale 0.5 out %q : tensor<5x?xf32> lse %l : tensor<5xf32> cotangents %q wrt ["query"]
      : (tensor<5x?xf32>, tensor<5x?xf32>, tensor<5x?xf32>, tensor<5x?xf32>) -> (tensor<5x?xf32>)
  return %g : tensor<5x?xf32>
}

// -----

func.func @one_unknown_number_of_heads(%q: tensor<?x5x8xf32>, %k: tensor<2x5x8xf32>, %l: tensor<?x5xf32>) -> tensor<?x5x8xf32> {
  // expected-error@+1 {{has no kernel on this target for an unknown number of heads beside a known one}}
  %g = attn.sdpa_grad %q, %k, %k scale 0.5 out %q : tensor<?x5x8xf32> lse %l : tensor<?x5xf32> cotangents %q wrt ["query"]
      : (tensor<?x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<?x5x8xf32>) -> (tensor<?x5x8xf32>)
  return %g : tensor<?x5x8xf32>
}

// -----

func.func @heads(%q: tensor<?x5x8xf32>, %l: tensor<?x5xf32>) -> tensor<?x5x8xf32> {
  %g = attn.sdpa_grad %q, %q, %q scale 0.5 out %q : tensor<?x5x8xf32> lse %l : tensor<?x5xf32> cotangents %q wrt ["query"]
      : (tensor<?x5x8xf32>, tensor<?x5x8xf32>, tensor<?x5x8xf32>, tensor<?x5x8xf32>) -> (tensor<?x5x8xf32>)
  return %g : tensor<?x5x8xf32>
}
