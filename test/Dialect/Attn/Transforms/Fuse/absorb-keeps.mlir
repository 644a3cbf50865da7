// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nothing of attn.sdpa is lost on the way, and a layout that is there already stays.
// RUN: attn-opt %s --attn-absorb-heads | FileCheck %s

// CHECK-LABEL: @everything(
// CHECK: attn.sdpa %{{.*}} bias %{{.*}} : tensor<5x5xf32> scale 2.500000e-01 where causal(top_left) and key_length(%{{.*}} : tensor<2xi32>) returning(out, weights)
func.func @everything(%x: tensor<2x5x64xf32>, %b: tensor<5x5xf32>, %n: tensor<2xi32>) -> (tensor<2x5x64xf32>, tensor<2x4x5x5xf32>) {
  %q = attn.split_heads %x into 4 : tensor<2x5x64xf32> -> tensor<2x4x5x16xf32>
  %o, %w = attn.sdpa %q, %q, %q bias %b : tensor<5x5xf32> scale 0.25 where causal(top_left) and key_length(%n : tensor<2xi32>) returning(out, weights) : (tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>) -> (tensor<2x4x5x16xf32>, tensor<2x4x5x5xf32>)
  %y = attn.merge_heads %o : tensor<2x4x5x16xf32> -> tensor<2x5x64xf32>
  return %y, %w : tensor<2x5x64xf32>, tensor<2x4x5x5xf32>
}

// CHECK-LABEL: @sequence_first(
// CHECK: attn.sdpa
// CHECK-SAME: (tensor<2x5x4x16xf32>, tensor<2x5x4x16xf32>, tensor<2x5x4x16xf32>) -> tensor<2x5x4x16xf32>
func.func @sequence_first(%q: tensor<2x5x4x16xf32>, %x: tensor<2x5x64xf32>) -> tensor<2x5x4x16xf32> {
  %k = attn.split_heads %x into 4 : tensor<2x5x64xf32> -> tensor<2x4x5x16xf32>
  %o = attn.sdpa %q, %k, %k scale 1.0 {query_layout = #attn<layout bshd>, out_layout = #attn<layout bshd>} : (tensor<2x5x4x16xf32>, tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>) -> tensor<2x5x4x16xf32>
  return %o : tensor<2x5x4x16xf32>
}

// CHECK-LABEL: @heads_read_as_sequence(
// CHECK: %[[T:.*]] = linalg.transpose
// CHECK: attn.sdpa %[[T]]
func.func @heads_read_as_sequence(%x: tensor<2x4x64xf32>, %k: tensor<2x4x4x16xf32>) -> tensor<2x4x4x16xf32> {
  %q = attn.split_heads %x into 4 : tensor<2x4x64xf32> -> tensor<2x4x4x16xf32>
  %o = attn.sdpa %q, %k, %k scale 1.0 {query_layout = #attn<layout bshd>} : (tensor<2x4x4x16xf32>, tensor<2x4x4x16xf32>, tensor<2x4x4x16xf32>) -> tensor<2x4x4x16xf32>
  return %o : tensor<2x4x4x16xf32>
}
