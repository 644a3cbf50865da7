// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-widen-attention --split-input-file --remarks-filter-missed=attn-widen-attention --remark-policy=all 2>&1 | FileCheck %s

// Queries and keys become those of f32.
// CHECK-LABEL: func.func @values(
// CHECK-SAME:    %[[Q:.*]]: tensor<2x?x8xf16>, %[[K:.*]]: tensor<2x?x8xf16>, %[[V:.*]]: tensor<2x?x8xf32>)
// CHECK:         %[[WQ:.*]] = arith.extf %[[Q]]
// CHECK:         %[[WK:.*]] = arith.extf %[[K]]
// CHECK:         %[[O:.*]] = attn.sdpa %[[WQ]], %[[WK]], %[[V]]
// CHECK:         return %[[O]]
func.func @values(%q: tensor<2x?x8xf16>, %k: tensor<2x?x8xf16>, %v: tensor<2x?x8xf32>) -> tensor<2x?x8xf32> {
  %0 = attn.sdpa %q, %k, %v scale 0.2 : (tensor<2x?x8xf16>, tensor<2x?x8xf16>, tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return %0 : tensor<2x?x8xf32>
}

// -----

// Values do, and the context is rounded; another result is as it was.
// CHECK-LABEL: func.func @queries(
// CHECK-SAME:    %[[Q:.*]]: tensor<2x?x8xf32>, %[[K:.*]]: tensor<2x?x8xf32>, %[[V:.*]]: tensor<2x?x8xbf16>)
// CHECK:         %[[W:.*]] = arith.extf %[[V]]
// CHECK:         %[[O:.*]], %[[LSE:.*]] = attn.sdpa %[[Q]], %[[K]], %[[W]]
// CHECK:         %[[N:.*]] = arith.truncf %[[O]] : tensor<2x?x8xf32> to tensor<2x?x8xbf16>
// CHECK:         return %[[N]], %[[LSE]]
func.func @queries(%q: tensor<2x?x8xf32>, %k: tensor<2x?x8xf32>, %v: tensor<2x?x8xbf16>) -> (tensor<2x?x8xbf16>, tensor<2x?xf32>) {
  %0, %lse = attn.sdpa %q, %k, %v scale 0.2 returning(out, lse) : (tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xbf16>) -> (tensor<2x?x8xbf16>, tensor<2x?xf32>)
  return %0, %lse : tensor<2x?x8xbf16>, tensor<2x?xf32>
}

// -----

// One type stays, also where the context has another.
// CHECK-LABEL: func.func @same(
// CHECK-NOT:     arith
func.func @same(%q: tensor<2x?x8xbf16>) -> tensor<2x?x8xf32> {
  %0 = attn.sdpa %q, %q, %q scale 0.2 : (tensor<2x?x8xbf16>, tensor<2x?x8xbf16>, tensor<2x?x8xbf16>) -> tensor<2x?x8xf32>
  return %0 : tensor<2x?x8xf32>
}
