// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.softcap rejects; the numbers are those of docs/Spec.md.

func.func @softcap_c1_zero(%s: tensor<4x5x6xf32>) {
  // expected-error@+1 {{expects a finite cap above 0, but got 0}}
  %r = attn.softcap %s at 0.0 : tensor<4x5x6xf32>
  return
}

// -----

func.func @softcap_c1_negative(%s: tensor<4x5x6xf32>) {
  // expected-error@+1 {{expects a finite cap above 0, but got -2}}
  %r = attn.softcap %s at -2.0 : tensor<4x5x6xf32>
  return
}

// -----

func.func @softcap_c1_infinity(%s: tensor<4x5x6xf32>) {
  // expected-error@+1 {{expects a finite cap above 0, but got INF}}
  %r = attn.softcap %s at 0x7FF0000000000000 : tensor<4x5x6xf32>
  return
}

// -----

func.func @softcap_c2_other_result_type(%s: tensor<4x5x6xf32>) {
  // expected-error@+1 {{requires the same type for all operands and results}}
  %r = "attn.softcap"(%s) <{cap = 2.0 : f64}> : (tensor<4x5x6xf32>) -> tensor<4x5x7xf32>
  return
}
