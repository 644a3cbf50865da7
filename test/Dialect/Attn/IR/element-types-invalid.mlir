// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graph ops take tensors of floats.
func.func @integers(%q: tensor<2x4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of floating-point values}}
  %s = "attn.scores"(%q, %q) : (tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @unranked(%q: tensor<*xf32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of floating-point values}}
  %s = "attn.softmax"(%q) : (tensor<*xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @memref(%q: memref<2x4xf32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of floating-point values}}
  %s = "attn.softmax"(%q) : (memref<2x4xf32>) -> memref<2x4xf32>
  return
}
