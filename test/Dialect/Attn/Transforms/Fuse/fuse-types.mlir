// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types: scores of f16 and bf16 are f32, of f64 are f64; the value may differ from the query.
// RUN: attn-opt %s --attn-fuse | FileCheck %s

// CHECK-LABEL: @half(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: attn.sdpa %[[Q]], %[[K]], %[[V]] scale 5.000000e-01 : (tensor<2x4xf16>
func.func @half(%q: tensor<2x4xf16>, %k: tensor<3x4xf16>, %v: tensor<3x5xf16>) -> tensor<2x5xf16> {
  %s = attn.scores %q, %k : (tensor<2x4xf16>, tensor<3x4xf16>) -> tensor<2x3xf32>
  %t = attn.scale %s by 0.5 : tensor<2x3xf32>
  %w = attn.softmax %t : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf16>) -> tensor<2x5xf16>
  return %o : tensor<2x5xf16>
}

// CHECK-LABEL: @bfloat(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: returning(out, weights)
// CHECK-SAME: -> (tensor<2x5xbf16>, tensor<2x3xf32>)
func.func @bfloat(%q: tensor<2x4xbf16>, %k: tensor<3x4xbf16>, %v: tensor<3x5xbf16>) -> (tensor<2x5xbf16>, tensor<2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xbf16>, tensor<3x4xbf16>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xbf16>) -> tensor<2x5xbf16>
  return %o, %w : tensor<2x5xbf16>, tensor<2x3xf32>
}

// CHECK-LABEL: @double(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: returning(out, scores)
// CHECK-SAME: -> (tensor<2x5xf64>, tensor<2x3xf64>)
func.func @double(%q: tensor<2x4xf64>, %k: tensor<3x4xf64>, %v: tensor<3x5xf64>) -> (tensor<2x5xf64>, tensor<2x3xf64>) {
  %s = attn.scores %q, %k : (tensor<2x4xf64>, tensor<3x4xf64>) -> tensor<2x3xf64>
  %w = attn.softmax %s : tensor<2x3xf64>
  %o = attn.context %w, %v : (tensor<2x3xf64>, tensor<3x5xf64>) -> tensor<2x5xf64>
  return %o, %s : tensor<2x5xf64>, tensor<2x3xf64>
}

// CHECK-LABEL: @mixed(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: attn.sdpa %[[Q]], %[[K]], %[[V]] scale 1.000000e+00 : (tensor<2x4xf16>, tensor<3x4xf16>, tensor<3x5xbf16>) -> tensor<2x5xbf16>
func.func @mixed(%q: tensor<2x4xf16>, %k: tensor<3x4xf16>, %v: tensor<3x5xbf16>) -> tensor<2x5xbf16> {
  %s = attn.scores %q, %k : (tensor<2x4xf16>, tensor<3x4xf16>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xbf16>) -> tensor<2x5xbf16>
  return %o : tensor<2x5xbf16>
}

// CHECK-LABEL: @scaled_half_query(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: attn.sdpa %[[Q]], %[[K]], %[[V]] scale 5.000000e-01 : (tensor<2x4xf16>
func.func @scaled_half_query(%q: tensor<2x4xf16>, %k: tensor<3x4xf16>, %v: tensor<3x5xf16>) -> tensor<2x5xf16> {
  %x = attn.scale %q by 0.5 : tensor<2x4xf16>
  %s = attn.scores %x, %k : (tensor<2x4xf16>, tensor<3x4xf16>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf16>) -> tensor<2x5xf16>
  return %o : tensor<2x5xf16>
}
