// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.scale rejects; the numbers are those of docs/Spec.md.

func.func @scale_c1_zero(%s: tensor<2x3xf32>) {
  // expected-error@+1 {{expects a finite factor other than 0, but got 0}}
  %r = attn.scale %s by 0.0 : tensor<2x3xf32>
  return
}

// -----

func.func @scale_c1_infinity(%s: tensor<2x3xf32>) {
  // expected-error@+1 {{expects a finite factor other than 0, but got INF}}
  %r = attn.scale %s by 0x7FF0000000000000 : tensor<2x3xf32>
  return
}

// -----

func.func @scale_c1_nan(%s: tensor<2x3xf32>) {
  // expected-error@+1 {{expects a finite factor other than 0, but got nan}}
  %r = attn.scale %s by 0x7FF8000000000000 : tensor<2x3xf32>
  return
}

// -----

func.func @scale_c2_other_result_type(%s: tensor<2x3xf32>) {
  // expected-error@+1 {{requires the same type for all operands and results}}
  %r = "attn.scale"(%s) <{factor = 2.0 : f64}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}
