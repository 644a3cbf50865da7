// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A comparison of a tensor with itself folds to a constant, also where MLIR does not know of how many elements.
// RUN: attn-opt %s --pass-pipeline='builtin.module(func.func(canonicalize,attn-check-ops))' --split-input-file --verify-diagnostics

func.func @unknown_number(%x: tensor<?x8xi64>) -> tensor<?x8xi1> {
  // expected-error@+1 {{'arith.constant' op is not supported where it makes an unknown number of equal elements, 'tensor<?x8xi1>'}}
  %a = arith.cmpi ne, %x, %x : tensor<?x8xi64>
  return %a : tensor<?x8xi1>
}

// -----

func.func @known_number(%x: tensor<4x8xi64>) -> tensor<4x8xi1> {
  %a = arith.cmpi ne, %x, %x : tensor<4x8xi64>
  return %a : tensor<4x8xi1>
}
