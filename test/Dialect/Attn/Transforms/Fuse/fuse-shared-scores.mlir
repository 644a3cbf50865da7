// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two masks of the same scores: two attentions. One of them gives the scores to whoever else reads them.
// RUN: attn-opt %s --attn-fuse | FileCheck %s

// CHECK-LABEL: @two(
// CHECK-NOT: attn.scores
// CHECK: attn.sdpa {{.*}} scale 5.000000e-01 where causal(top_left) :
// CHECK: attn.sdpa {{.*}} scale 5.000000e-01 where causal(offset = 1) :
// CHECK-NOT: attn.softmax
func.func @two(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %t = attn.scale %s by 0.5 : tensor<2x3xf32>
  %m = attn.mask %t where causal(top_left) : tensor<2x3xf32>
  %w = attn.softmax %m : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  %n = attn.mask %t where causal(offset = 1) : tensor<2x3xf32>
  %x = attn.softmax %n : tensor<2x3xf32>
  %p = attn.context %x, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %p : tensor<2x5xf32>, tensor<2x5xf32>
}

// CHECK-LABEL: @two_and_scores(
// CHECK: %{{[^,]*}}, %[[S:.*]] = attn.sdpa {{.*}} where causal(top_left) returning(out, scores)
// CHECK: attn.sdpa {{.*}} where causal(offset = 1) :
// CHECK: return %{{.*}}, %{{.*}}, %[[S]]
func.func @two_and_scores(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %t = attn.scale %s by 0.5 : tensor<2x3xf32>
  %m = attn.mask %t where causal(top_left) : tensor<2x3xf32>
  %w = attn.softmax %m : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  %n = attn.mask %t where causal(offset = 1) : tensor<2x3xf32>
  %x = attn.softmax %n : tensor<2x3xf32>
  %p = attn.context %x, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %p, %t : tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @one_refused(
// CHECK: %[[P:[^,]*]], %[[S:.*]] = attn.sdpa {{.*}} returning(out, scores)
// CHECK: attn.bias %[[S]],
// CHECK: %[[O:.*]] = attn.context {{.*}} {attn.not_fused =
// CHECK: return %[[O]], %[[P]]
func.func @one_refused(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %b: tensor<1x3xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %x = attn.bias %s, %b : tensor<2x3xf32>, tensor<1x3xf32>
  %t = attn.scale %x by 0.5 : tensor<2x3xf32>
  %w = attn.softmax %t : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  %y = attn.softmax %s : tensor<2x3xf32>
  %p = attn.context %y, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %p : tensor<2x5xf32>, tensor<2x5xf32>
}
