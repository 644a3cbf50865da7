// RUN: attn-opt %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The printed results of attn.sdpa carry their names.
// CHECK: %out, %lse, %weights, %scores = attn.sdpa
func.func @names(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) -> tensor<5x3xf32> {
  %0, %1, %2, %3 = attn.sdpa %q, %k, %v scale 0.5 returning(out, lse, weights, scores) {scores_stage = #attn<scores_stage raw>}
      : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> (tensor<5x3xf32>, tensor<5xf32>, tensor<5x6xf32>, tensor<5x6xf32>)
  return %0 : tensor<5x3xf32>
}

// CHECK: %out, %maximum, %sum, %acc = attn.sdpa {{.*}} returning(out, state) :
func.func @state(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) -> tensor<5x3xf32> {
  %0, %1, %2, %3 = attn.sdpa %q, %k, %v scale 0.5 returning(out, state)
      : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> (tensor<5x3xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5x3xf32>)
  return %0 : tensor<5x3xf32>
}
