// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f16, bf16, f32 and f64 are accepted, mixed where the op allows it; element types
// other than these are refused by name.
// RUN: attn-opt %s --attn-check-target --split-input-file --verify-diagnostics

func.func @half(%q: tensor<2x4xf16>, %k: tensor<2x4xf16>, %v: tensor<2x4xf16>) -> tensor<2x4xf16> {
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<2x4xf16>, tensor<2x4xf16>, tensor<2x4xf16>) -> tensor<2x4xf16>
  return %o : tensor<2x4xf16>
}

// -----

func.func @bfloat(%q: tensor<2x4xbf16>, %k: tensor<2x4xbf16>, %v: tensor<2x4xbf16>) -> tensor<2x4xbf16> {
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<2x4xbf16>, tensor<2x4xbf16>, tensor<2x4xbf16>) -> tensor<2x4xbf16>
  return %o : tensor<2x4xbf16>
}

// -----

func.func @double(%q: tensor<2x4xf64>, %k: tensor<2x4xf64>, %v: tensor<2x4xf64>) -> tensor<2x4xf64> {
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<2x4xf64>, tensor<2x4xf64>, tensor<2x4xf64>) -> tensor<2x4xf64>
  return %o : tensor<2x4xf64>
}

// -----

func.func @mixed(%q: tensor<2x4xbf16>, %k: tensor<3x4xbf16>, %v: tensor<3x4xf16>) -> tensor<2x4xf16> {
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<2x4xbf16>, tensor<3x4xbf16>, tensor<3x4xf16>) -> tensor<2x4xf16>
  return %o : tensor<2x4xf16>
}

// -----

func.func @project_half(%x: tensor<2x4xf16>, %w: tensor<4x3xf16>) -> tensor<2x3xf16> {
  %y = attn.project %x, %w : (tensor<2x4xf16>, tensor<4x3xf16>) -> tensor<2x3xf16>
  return %y : tensor<2x3xf16>
}

// -----

func.func @query(%q: tensor<2x4xf8E5M2>, %k: tensor<2x4xf8E5M2>, %v: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // expected-error @below {{'attn.sdpa' op expects elements of f16, bf16, f32 or f64 on this target, but its query has 'f8E5M2'}}
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<2x4xf8E5M2>, tensor<2x4xf8E5M2>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %o : tensor<2x4xf32>
}

// -----

func.func @wide_query(%q: tensor<2x4xf80>, %k: tensor<2x4xf80>, %v: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // expected-error @below {{expects elements of f16, bf16, f32 or f64 on this target, but its query has 'f80'}}
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<2x4xf80>, tensor<2x4xf80>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %o : tensor<2x4xf32>
}

// -----

func.func @value(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x4xf8E4M3FN>) -> tensor<2x4xf8E4M3FN> {
  // expected-error @below {{expects elements of f16, bf16, f32 or f64 on this target, but its value has 'f8E4M3FN'}}
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<2x4xf32>, tensor<3x4xf32>, tensor<3x4xf8E4M3FN>) -> tensor<2x4xf8E4M3FN>
  return %o : tensor<2x4xf8E4M3FN>
}

// -----

func.func @project(%x: tensor<2x4xf8E5M2>, %w: tensor<4x3xf8E5M2>) -> tensor<2x3xf8E5M2> {
  // expected-error @below {{'attn.project' op expects elements of f16, bf16, f32 or f64 on this target, but its input has 'f8E5M2'}}
  %y = attn.project %x, %w : (tensor<2x4xf8E5M2>, tensor<4x3xf8E5M2>) -> tensor<2x3xf8E5M2>
  return %y : tensor<2x3xf8E5M2>
}

// -----

func.func @finalized(%m: tensor<2xf32>, %a: tensor<2x4xf32>) -> tensor<2x4xf16> {
  %o = attn.finalize_state %m, %m, %a : (tensor<2xf32>, tensor<2xf32>, tensor<2x4xf32>) -> tensor<2x4xf16>
  return %o : tensor<2x4xf16>
}

// -----

func.func @finalized_f8(%m: tensor<2xf32>, %a: tensor<2x4xf32>) -> tensor<2x4xf8E5M2> {
  // expected-error@+1 {{expects elements of f16, bf16, f32 or f64 on this target, but its out has 'f8E5M2'}}
  %o = attn.finalize_state %m, %m, %a : (tensor<2xf32>, tensor<2xf32>, tensor<2x4xf32>) -> tensor<2x4xf8E5M2>
  return %o : tensor<2x4xf8E5M2>
}

// -----

func.func @rope(%x: tensor<2x4xf8E5M2>, %c: tensor<2x2xf32>) -> tensor<2x4xf8E5M2> {
  // expected-error@+1 {{'attn.rope' op expects elements of f16, bf16, f32 or f64 on this target, but its input has 'f8E5M2'}}
  %r = attn.rope %x, %c, %c : tensor<2x4xf8E5M2>, tensor<2x2xf32>
  return %r : tensor<2x4xf8E5M2>
}

// -----

func.func @norm(%x: tensor<2x4xf8E5M2>) -> tensor<2x4xf8E5M2> {
  // expected-error@+1 {{'attn.rms_norm' op expects elements of f16, bf16, f32 or f64 on this target, but its input has 'f8E5M2'}}
  %r = attn.rms_norm %x eps 1.0e-6 : tensor<2x4xf8E5M2>
  return %r : tensor<2x4xf8E5M2>
}
