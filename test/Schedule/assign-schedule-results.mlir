// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Only the schedule is added: operands, results and other attributes stay.
// RUN: attn-opt %s --attn-assign-schedule | FileCheck %s

// CHECK-LABEL: @f(
// CHECK: attn.sdpa %arg0, %arg1, %arg1 bias %arg2 : tensor<?xf32> scale 5.000000e-01 where causal(bottom_right) returning(out, lse, scores)
// CHECK-SAME: schedule = #attn.cpu_schedule<
// CHECK-SAME: scores_stage = #attn<scores_stage biased>
func.func @f(%q: tensor<?x4xf32>, %k: tensor<?x4xf32>, %b: tensor<?xf32>) -> (tensor<?x4xf32>, tensor<?xf32>, tensor<?x?xf32>) {
  %r:3 = attn.sdpa %q, %k, %k bias %b : tensor<?xf32> scale 0.5 where causal(bottom_right) returning(out, lse, scores) {scores_stage = #attn<scores_stage biased>}
      : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?xf32>, tensor<?x?xf32>)
  return %r#0, %r#1, %r#2 : tensor<?x4xf32>, tensor<?xf32>, tensor<?x?xf32>
}

// Two maps have the schedule of many queries, also for one.
// CHECK-LABEL: @two_maps(
// CHECK: attn.sdpa %arg0, %arg1, %arg1 minus %arg0, %arg1 by %arg2 : tensor<f32> scale 5.000000e-01 {schedule = #attn.cpu_schedule<{{[^>]*}}>} :
func.func @two_maps(%q: tensor<1x4xf32>, %k: tensor<?x4xf32>, %l: tensor<f32>) -> tensor<1x4xf32> {
  %o = attn.sdpa %q, %k, %k minus %q, %k by %l : tensor<f32> scale 0.5 : (tensor<1x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<1x4xf32>
  return %o : tensor<1x4xf32>
}
