// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Why few queries are computed as many are, and why heads of a group are not rows of one block.
// RUN: attn-opt %s -split-input-file -verify-diagnostics -attn-assign-gpu-schedule --remarks-filter-missed=attn-assign-gpu-schedule --remark-policy=all

func.func @weights(%q: tensor<4x1x64xf16>, %k: tensor<2x?x64xf16>) -> tensor<4x1x?xf32> {
  // expected-remark @below {{few queries are computed as many are: weights and scores need the sum over all keys}}
  %out, %w = attn.sdpa %q, %k, %k scale 1.0 returning(out, weights) : (tensor<4x1x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>) -> (tensor<4x1x64xf16>, tensor<4x1x?xf32>)
  return %w : tensor<4x1x?xf32>
}

// -----

func.func @sigmoid(%q: tensor<4x1x64xf16>, %k: tensor<2x?x64xf16>) -> tensor<4x1x64xf16> {
  // expected-remark @below {{few queries are computed as many are: weights by sigmoid have no sums to merge}}
  %out = attn.sdpa %q, %k, %k scale 1.0 {normalization = #attn<normalization sigmoid>} : (tensor<4x1x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>) -> tensor<4x1x64xf16>
  return %out : tensor<4x1x64xf16>
}

// -----

func.func @bias(%q: tensor<4x1x64xf16>, %k: tensor<2x?x64xf16>, %b: tensor<4x1x?xf32>) -> tensor<4x1x64xf16> {
  // expected-remark @below {{heads that share a key head are not rows of one block, and each reads its keys}}
  %out = attn.sdpa %q, %k, %k bias %b : tensor<4x1x?xf32> scale 1.0 : (tensor<4x1x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>) -> tensor<4x1x64xf16>
  return %out : tensor<4x1x64xf16>
}

// -----

// There is no group, and no remark.
func.func @apart(%q: tensor<4x1x64xf16>, %k: tensor<4x?x64xf16>, %b: tensor<4x1x?xf32>) -> tensor<4x1x64xf16> {
  %out = attn.sdpa %q, %k, %k bias %b : tensor<4x1x?xf32> scale 1.0 : (tensor<4x1x64xf16>, tensor<4x?x64xf16>, tensor<4x?x64xf16>) -> tensor<4x1x64xf16>
  return %out : tensor<4x1x64xf16>
}
