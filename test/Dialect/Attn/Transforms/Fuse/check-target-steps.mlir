// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps that no attn.sdpa took are refused once, at the context if there is one, with the reason of attn-fuse.
// RUN: attn-opt %s --attn-fuse --attn-check-target --split-input-file --verify-diagnostics

func.func @reason(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %b: tensor<1x3xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %x = attn.bias %s, %b : tensor<2x3xf32>, tensor<1x3xf32>
  %t = attn.scale %x by 0.5 : tensor<2x3xf32>
  %w = attn.softmax %t : tensor<2x3xf32>
  // expected-error @below {{'attn.context' op is not part of an attention that could be fused: attn.scale stands after attn.bias and would scale the bias too; scale before}}
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// -----

func.func @scores(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>) -> tensor<2x3xf32> {
  // expected-error @below {{'attn.scores' op is not part of an attention that could be fused: no attn.context depends on it}}
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  return %s : tensor<2x3xf32>
}

// -----

// Also where a step between them is a difference of two maps.
func.func @difference(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %l: tensor<f32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %t = attn.scale %s by 0.5 : tensor<2x3xf32>
  %a = attn.softmax %s : tensor<2x3xf32>
  %b = attn.softmax %t : tensor<2x3xf32>
  %w = attn.subtract_weights %a, %b by %l : tensor<2x3xf32>, tensor<f32>
  // expected-error @below {{'attn.context' op is not part of an attention that could be fused: the two maps have different scales}}
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// -----

func.func @difference_alone(%a: tensor<2x3xf32>, %l: tensor<f32>) -> tensor<2x3xf32> {
  // expected-error @below {{'attn.subtract_weights' op is not part of}}
  %w = attn.subtract_weights %a, %a by %l : tensor<2x3xf32>, tensor<f32>
  return %w : tensor<2x3xf32>
}

// -----

func.func @softmax(%s: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @below {{'attn.softmax' op is not part of}}
  %w = attn.softmax %s : tensor<2x3xf32>
  return %w : tensor<2x3xf32>
}

// -----

// A scale alone is arithmetic.
func.func @all_reasons(%s: tensor<2x3xf32>, %b: tensor<1x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  // expected-error @below {{'attn.mask' op is not part of}}
  %a = attn.mask %s where causal(top_left) : tensor<2x3xf32>
  // expected-error @below {{'attn.bias' op is not part of}}
  %c = attn.bias %s, %b : tensor<2x3xf32>, tensor<1x3xf32>
  %d = attn.scale %s by 2.0 : tensor<2x3xf32>
  return %a, %c, %d : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

func.func @second_use_of_query(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x4xf32>) {
  %x = attn.scale %q by 0.5 : tensor<2x4xf32>
  %s = attn.scores %x, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %x : tensor<2x5xf32>, tensor<2x4xf32>
}

// -----

func.func @scale_of_other_elements(%x: tensor<2xf8E5M2>) -> tensor<2xf8E5M2> {
  // expected-error @below {{'attn.scale' op expects elements of f16, bf16, f32 or f64 on this target, but its input has 'f8E5M2'}}
  %y = attn.scale %x by 0.5 : tensor<2xf8E5M2>
  return %y : tensor<2xf8E5M2>
}

// -----

// Once, also with other ops in between.
func.func @through_arithmetic(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = math.exp %s : tensor<2x3xf32>
  // expected-error @below {{'attn.context' op is not part of an attention that could be fused: the weights come from math.exp}}
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// -----

// A step of an attention is not reported by the next attention's context.
func.func @chained(%q: tensor<3x3xf32>, %k: tensor<3x3xf32>) -> tensor<3x3xf32> {
  // expected-error @below {{'attn.scores' op is not part of an attention that could be fused: no attn.context depends on it}}
  %s = attn.scores %q, %k : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %t = attn.scores %s, %k : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %w = math.exp %t : tensor<3x3xf32>
  // expected-error @below {{'attn.context' op is not part of}}
  %o = attn.context %w, %k : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return %o : tensor<3x3xf32>
}
