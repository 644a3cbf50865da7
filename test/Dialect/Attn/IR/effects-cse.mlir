// RUN: attn-opt %s -cse | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Equal graph ops become one; different factors or masks do not.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 2, query_tile = 8, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: func @equal
// CHECK-COUNT-1: attn.mask
// CHECK-NOT: attn.mask
func.func @equal(%s: tensor<5x6xf32>) -> (tensor<5x6xf32>, tensor<5x6xf32>) {
  %a = attn.mask %s where causal(top_left) : tensor<5x6xf32>
  %b = attn.mask %s where causal(top_left) : tensor<5x6xf32>
  return %a, %b : tensor<5x6xf32>, tensor<5x6xf32>
}

// CHECK-LABEL: func @different
// CHECK: attn.mask %{{.*}} where causal(top_left)
// CHECK: attn.mask %{{.*}} where causal(bottom_right)
func.func @different(%s: tensor<5x6xf32>) -> (tensor<5x6xf32>, tensor<5x6xf32>) {
  %a = attn.mask %s where causal(top_left) : tensor<5x6xf32>
  %b = attn.mask %s where causal(bottom_right) : tensor<5x6xf32>
  return %a, %b : tensor<5x6xf32>, tensor<5x6xf32>
}

// A state is used up by the step that gets it: two are two.
// CHECK-LABEL: func @states
// CHECK-COUNT-2: attn.init_state
func.func @states(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %w: tensor<?x8xf32>, %i: index, %n: index) -> (!attn.state<8 x 8 x 8, f32>, !attn.state<8 x 8 x 8, f32>) {
  %a = attn.init_state %q scale 0.5 {schedule = #s} : tensor<?x8xf32> -> !attn.state<8 x 8 x 8, f32>
  %b = attn.init_state %q scale 0.5 {schedule = #s} : tensor<?x8xf32> -> !attn.state<8 x 8 x 8, f32>
  %c = attn.online %a, %k, %v rows %i to %n keys from %i lengths %n, %n mode full {schedule = #s} : !attn.state<8 x 8 x 8, f32>, tensor<?x8xf32>, tensor<?x8xf32>
  %d = attn.online %b, %k, %w rows %i to %n keys from %i lengths %n, %n mode full {schedule = #s} : !attn.state<8 x 8 x 8, f32>, tensor<?x8xf32>, tensor<?x8xf32>
  return %c, %d : !attn.state<8 x 8 x 8, f32>, !attn.state<8 x 8 x 8, f32>
}
