// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The op, and an attn.sdpa that means it.

// CHECK-LABEL: func @subtract
// CHECK: attn.subtract_weights %{{.*}}, %{{.*}} by %{{.*}} : tensor<4x5x6xf32>, tensor<4xf32>
func.func @subtract(%a: tensor<4x5x6xf32>, %b: tensor<4x5x6xf32>, %l: tensor<4xf32>) -> tensor<4x5x6xf32> {
  %w = attn.subtract_weights %a, %b by %l : tensor<4x5x6xf32>, tensor<4xf32>
  return %w : tensor<4x5x6xf32>
}

// With everything that may stand beside it.
// CHECK-LABEL: func @sdpa
// CHECK: attn.sdpa %arg0, %arg1, %arg4 minus %arg2, %arg3 by %arg5 : tensor<f32> bias %arg6 : tensor<6xf32> scale 5.000000e-01 score_mod
// CHECK: where causal(top_left) and key_length(%arg7 : tensor<i32>) sinks %arg8 : tensor<4xf32> {query_layout = #attn<layout bshd>} :
// CHECK-SAME: (tensor<5x4x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> tensor<4x5x3xf32>
func.func @sdpa(%q1: tensor<5x4x8xf32>, %k1: tensor<2x6x8xf32>, %q2: tensor<5x4x8xf32>, %k2: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>, %l: tensor<f32>,
                %b: tensor<6xf32>, %n: tensor<i32>, %sinks: tensor<4xf32>) -> tensor<4x5x3xf32> {
  %o = attn.sdpa %q1, %k1, %v minus %q2, %k2 by %l : tensor<f32> bias %b : tensor<6xf32> scale 0.5
      score_mod (%s: f32, %batch, %h, %i, %j) {
        %x = math.tanh %s : f32
        attn.yield %x : f32
      } where causal(top_left) and key_length(%n : tensor<i32>) sinks %sinks : tensor<4xf32> {query_layout = #attn<layout bshd>}
      : (tensor<5x4x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) -> tensor<4x5x3xf32>
  return %o : tensor<4x5x3xf32>
}
