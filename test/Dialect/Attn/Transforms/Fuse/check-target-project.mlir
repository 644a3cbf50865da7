// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A projection may have any sizes, and elements of up to 64 bits.
// RUN: attn-opt %s --attn-check-target --split-input-file --verify-diagnostics

func.func @input(%x: tensor<?x4xf128>, %w: tensor<4x3xf32>) -> tensor<?x3xf32> {
  // expected-error @below {{expects elements of f16, bf16, f32 or f64 on this target, but its input has 'f128'}}
  %y = attn.project %x, %w : (tensor<?x4xf128>, tensor<4x3xf32>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

// -----

func.func @weight(%x: tensor<?x4xf32>, %w: tensor<4x3xf8E4M3FN>) -> tensor<?x3xf32> {
  // expected-error @below {{expects elements of f16, bf16, f32 or f64 on this target, but its weight has 'f8E4M3FN'}}
  %y = attn.project %x, %w : (tensor<?x4xf32>, tensor<4x3xf8E4M3FN>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

// -----

func.func @fine(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = attn.project %x, %w : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
