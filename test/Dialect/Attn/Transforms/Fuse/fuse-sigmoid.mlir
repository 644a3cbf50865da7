// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// attn.sigmoid stands where attn.softmax does; everything else is fused in the same way.
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=attn.sigmoid
// RUN: attn-opt %s --attn-fuse --remarks-filter-passed=attn-fuse --remark-policy=all 2>&1 | FileCheck %s --check-prefix=REMARK

// CHECK-LABEL: @masked
// CHECK: %[[O:.*]] = attn.sdpa %arg0, %arg1, %arg2 bias %arg3 : tensor<8x1x1xf32> scale 5.000000e-01 where causal(top_left) {normalization = #attn<normalization sigmoid>} :
// CHECK: return %[[O]]
// REMARK: fused attn.scores, attn.scale, attn.bias, attn.mask, attn.sigmoid, attn.context
func.func @masked(%q: tensor<?x8x?x4xf32>, %k: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x4xf32>, %b: tensor<8x1x1xf32>) -> tensor<?x8x?x4xf32> {
  %s = attn.scores %q, %k : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t = attn.scale %s by 0.5 : tensor<?x8x?x?xf32>
  %u = attn.bias %t, %b : tensor<?x8x?x?xf32>, tensor<8x1x1xf32>
  %m = attn.mask %u where causal(top_left) : tensor<?x8x?x?xf32>
  %w = attn.sigmoid %m : tensor<?x8x?x?xf32>
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// Weights and scores with a second user become results.
// CHECK-LABEL: @second_users
// CHECK: %[[O:.*]], %[[W:.*]], %[[S:.*]] = attn.sdpa %{{.*}} returning(out, weights, scores) {normalization = #attn<normalization sigmoid>, scores_stage = #attn<scores_stage scaled>}
// CHECK: return %[[O]], %[[W]], %[[S]]
func.func @second_users(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %t = attn.scale %s by 0.5 : tensor<2x3xf32>
  %w = attn.sigmoid %t : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %w, %t : tensor<2x5xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// The same scores by softmax are an attention of their own.
// CHECK-LABEL: @both
// CHECK: attn.sdpa %{{.*}} {normalization = #attn<normalization sigmoid>}
// CHECK: attn.sdpa
// CHECK-NOT: normalization
// CHECK: return
func.func @both(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.sigmoid %s : tensor<2x3xf32>
  %x = attn.softmax %s : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  %p = attn.context %x, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %p : tensor<2x5xf32>, tensor<2x5xf32>
}
