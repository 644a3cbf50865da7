// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The weight of a projection has static sizes.
// RUN: attn-opt %s --attn-check-target --split-input-file --verify-diagnostics

func.func @rows(%x: tensor<?x4xf32>, %w: tensor<?x3xf32>) -> tensor<?x3xf32> {
  // expected-error @below {{expects the sizes of its weight to be static on this target}}
  %y = attn.project %x, %w : (tensor<?x4xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

// -----

func.func @columns(%x: tensor<?x4xf32>, %w: tensor<4x?xf32>) -> tensor<?x?xf32> {
  // expected-error @below {{expects the sizes of its weight to be static on this target}}
  %y = attn.project %x, %w : (tensor<?x4xf32>, tensor<4x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

func.func @fine(%x: tensor<?x4xf32>, %w: tensor<4x3xf32>) -> tensor<?x3xf32> {
  %y = attn.project %x, %w : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
