// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls become the body of what they call, also calls in calls and in loops; public functions stay, private ones go, whether or
// not something calls them.
// RUN: attn-opt %s --attn-inline-functions | FileCheck %s

// CHECK-NOT: func private
// CHECK-NOT: call
// CHECK-LABEL: func.func @layer(
// CHECK-SAME: %[[Q:.*]]: tensor<?x8xf32>, %[[K:.*]]: tensor<?x8xf32>
// CHECK: %[[N:.*]] = attn.rms_norm %[[Q]]
// CHECK: %[[S:.*]] = attn.scores %[[N]], %[[K]]
// CHECK: attn.softmax %[[S]]
// CHECK-NOT: call
// CHECK-LABEL: func.func @twice(
// CHECK: scf.for
// CHECK: attn.rms_norm
// CHECK: %[[FIRST:.*]] = attn.context
// CHECK: attn.rms_norm %[[FIRST]]
// CHECK: attn.context
// CHECK-NOT: call
// CHECK-NOT: private
func.func private @external(%x: tensor<2xf32>) -> tensor<2xf32>
func.func private @unused(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @external(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
func.func private @norm(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = attn.rms_norm %x eps 1.0e-6 : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
func.func private @scores(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>) -> (tensor<?x?xf32>, tensor<?x8xf32>) {
  %n = call @norm(%q) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %s = attn.scores %n, %k : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x?xf32>
  return %s, %k : tensor<?x?xf32>, tensor<?x8xf32>
}
func.func @layer(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %s, %v = call @scores(%q, %k) : (tensor<?x8xf32>, tensor<?x8xf32>) -> (tensor<?x?xf32>, tensor<?x8xf32>)
  %w = attn.softmax %s : tensor<?x?xf32>
  %out = attn.context %w, %v : (tensor<?x?xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %out : tensor<?x8xf32>
}
func.func @twice(%q: tensor<?x8xf32>, %from: index, %to: index) -> tensor<?x8xf32> {
  %r = scf.for %i = %from to %to step %from iter_args(%x = %q) -> tensor<?x8xf32> {
    %a = func.call @layer(%x, %q) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    %b = func.call @layer(%a, %q) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    scf.yield %b : tensor<?x8xf32>
  }
  return %r : tensor<?x8xf32>
}
