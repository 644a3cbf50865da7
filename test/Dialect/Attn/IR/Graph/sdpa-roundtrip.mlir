// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fused op with nothing optional, and with everything.
// CHECK-LABEL: func @plain
// CHECK: attn.sdpa %{{.*}}, %{{.*}}, %{{.*}} scale 5.000000e-01 : (tensor<2x4xf32>, tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
func.func @plain(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.5 : (tensor<2x4xf32>, tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o : tensor<2x5xf32>
}

// CHECK-LABEL: func @everything
// CHECK-SAME: %[[Q:[^ ]*]]: tensor<?x?x8x64xf16>, %[[K:[^ ]*]]: tensor<?x2x?x64xf16>, %[[V:[^ ]*]]: tensor<?x2x?x32xf16>
// CHECK-SAME: %[[B:[^ ]*]]: tensor<1x?xf32>, %[[LEN:[^ ]*]]: tensor<?xi32>
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} = attn.sdpa %[[Q]], %[[K]], %[[V]] bias %[[B]] : tensor<1x?xf32> scale 1.250000e-01
// CHECK-SAME: where causal(bottom_right) and key_length(%[[LEN]] : tensor<?xi32>) returning(out, lse, weights, scores)
// CHECK-SAME: note = "kept"
// CHECK-SAME: query_layout = #attn<layout bshd>
// CHECK-SAME: schedule = #attn.cpu_schedule<lanes = 8,
// CHECK-SAME: scores_stage = #attn<scores_stage masked>
// CHECK-SAME: : (tensor<?x?x8x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x32xf16>)
// CHECK-SAME: -> (tensor<?x8x?x32xf16>, tensor<?x8x?xf32>, tensor<?x8x?x?xf32>, tensor<?x8x?x?xf32>)
func.func @everything(%q: tensor<?x?x8x64xf16>, %k: tensor<?x2x?x64xf16>, %v: tensor<?x2x?x32xf16>,
                      %b: tensor<1x?xf32>, %len: tensor<?xi32>)
    -> (tensor<?x8x?x32xf16>, tensor<?x8x?xf32>, tensor<?x8x?x?xf32>, tensor<?x8x?x?xf32>) {
  %o, %l, %w, %s = attn.sdpa %q, %k, %v bias %b : tensor<1x?xf32> scale 0.125
      where causal(bottom_right) and key_length(%len : tensor<?xi32>) returning(out, lse, weights, scores)
      {query_layout = #attn<layout bshd>, scores_stage = #attn<scores_stage masked>, note = "kept",
       schedule = #attn.cpu_schedule<lanes = 8, rows = 6, vectors = 2, query_tile = 32, key_tile = 48, unroll = 4, prefetch = 2>}
      : (tensor<?x?x8x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x32xf16>)
      -> (tensor<?x8x?x32xf16>, tensor<?x8x?xf32>, tensor<?x8x?x?xf32>, tensor<?x8x?x?xf32>)
  return %o, %l, %w, %s : tensor<?x8x?x32xf16>, tensor<?x8x?xf32>, tensor<?x8x?x?xf32>, tensor<?x8x?x?xf32>
}
