// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each call that has no body to become is refused by name, at the call.
// RUN: attn-opt %s --attn-inline-functions --split-input-file --verify-diagnostics

func.func private @external(%x: tensor<2xf32>) -> tensor<2xf32>
func.func @calls_external(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{'func.call' op calls 'external', which has no body: expects a function of this module}}
  %y = call @external(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

func.func @itself(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{'func.call' op calls 'itself', which has not ended: expects functions that do not call themselves}}
  %y = call @itself(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

func.func private @other(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{'func.call' op calls 'each', which has not ended: expects functions that do not call themselves}}
  %y = call @each(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
func.func @each(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @other(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

func.func private @branches(%x: tensor<2xf32>) -> tensor<2xf32> {
  cf.br ^bb1
^bb1:
  return %x : tensor<2xf32>
}
func.func @calls_branches(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{'func.call' op calls 'branches', which has branches: expects a function of one block}}
  %y = call @branches(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

func.func private @known(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func @indirect(%x: tensor<2xf32>) -> tensor<2xf32> {
  %f = constant @known : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{'func.call_indirect' op is not supported: expects func.call of a function by name}}
  %y = call_indirect %f(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
