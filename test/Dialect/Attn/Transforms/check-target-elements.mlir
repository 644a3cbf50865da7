// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types other than f32 are refused by name.
// RUN: attn-opt %s --attn-check-target --split-input-file --verify-diagnostics

func.func @half(%q: tensor<2x4xf16>, %k: tensor<2x4xf16>, %v: tensor<2x4xf16>) -> tensor<2x4xf16> {
  // expected-error @below {{'attn.sdpa' op expects elements of f32 on this target, but its query has 'f16'}}
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<2x4xf16>, tensor<2x4xf16>, tensor<2x4xf16>) -> tensor<2x4xf16>
  return %o : tensor<2x4xf16>
}

// -----

func.func @bfloat(%q: tensor<2x4xbf16>, %k: tensor<2x4xbf16>, %v: tensor<2x4xbf16>) -> tensor<2x4xbf16> {
  // expected-error @below {{expects elements of f32 on this target, but its query has 'bf16'}}
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<2x4xbf16>, tensor<2x4xbf16>, tensor<2x4xbf16>) -> tensor<2x4xbf16>
  return %o : tensor<2x4xbf16>
}

// -----

func.func @double(%q: tensor<2x4xf64>, %k: tensor<2x4xf64>, %v: tensor<2x4xf64>) -> tensor<2x4xf64> {
  // expected-error @below {{expects elements of f32 on this target, but its query has 'f64'}}
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<2x4xf64>, tensor<2x4xf64>, tensor<2x4xf64>) -> tensor<2x4xf64>
  return %o : tensor<2x4xf64>
}

// -----

func.func @value(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x4xf16>) -> tensor<2x4xf16> {
  // expected-error @below {{expects elements of f32 on this target, but its value has 'f16'}}
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<2x4xf32>, tensor<3x4xf32>, tensor<3x4xf16>) -> tensor<2x4xf16>
  return %o : tensor<2x4xf16>
}

// -----

func.func @project(%x: tensor<2x4xf16>, %w: tensor<4x3xf16>) -> tensor<2x3xf16> {
  // expected-error @below {{'attn.project' op expects elements of f32 on this target, but its input has 'f16'}}
  %y = attn.project %x, %w : (tensor<2x4xf16>, tensor<4x3xf16>) -> tensor<2x3xf16>
  return %y : tensor<2x3xf16>
}
