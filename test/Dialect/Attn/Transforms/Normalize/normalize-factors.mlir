// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factors that attn.scale does not take stay arithmetic, with a remark.
// RUN: attn-opt %s --attn-normalize --split-input-file --verify-diagnostics --remarks-filter-missed=attn-normalize --remark-policy=all

func.func @zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = arith.constant dense<0.0> : tensor<2x3xf32>
  // expected-remark @below {{not a scale: the factor}}
  %y = arith.mulf %x, %c : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

func.func @infinity(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = arith.constant dense<0x7F800000> : tensor<2x3xf32>
  // expected-remark @below {{not a scale: the factor}}
  %y = arith.mulf %x, %c : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

func.func @not_a_number(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = arith.constant dense<0x7FC00000> : tensor<2x3xf32>
  // expected-remark @below {{not a scale: the factor}}
  %y = arith.mulf %x, %c : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

func.func @by_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = arith.constant dense<0.0> : tensor<2x3xf32>
  // expected-remark @below {{not a scale: the factor}}
  %y = arith.divf %x, %c : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

func.func @by_infinity(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = arith.constant dense<0x7F800000> : tensor<2x3xf32>
  // expected-remark @below {{not a scale: the factor}}
  %y = arith.divf %x, %c : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

func.func @reciprocal_too_large(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %c = arith.constant dense<4.9e-324> : tensor<2x3xf64>
  // expected-remark @below {{not a scale: the factor}}
  %y = arith.divf %x, %c : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
