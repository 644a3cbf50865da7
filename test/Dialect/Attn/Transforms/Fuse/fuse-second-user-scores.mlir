// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scores with other uses become the result `scores`, at the stage where they are what was read.
// RUN: attn-opt %s --attn-fuse | FileCheck %s

// CHECK-LABEL: @raw(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: %[[O:[^,]*]], %[[S:.*]] = attn.sdpa
// CHECK-SAME: returning(out, scores)
// CHECK-SAME: raw>
// CHECK: return %[[O]], %[[S]]
func.func @raw(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %b: tensor<1x3xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %t = attn.scale %s by 0.5 : tensor<2x3xf32>
  %x = attn.bias %t, %b : tensor<2x3xf32>, tensor<1x3xf32>
  %m = attn.mask %x where causal(top_left) : tensor<2x3xf32>
  %w = attn.softmax %m : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %s : tensor<2x5xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @scaled(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: %[[O:[^,]*]], %[[S:.*]] = attn.sdpa
// CHECK-SAME: returning(out, scores)
// CHECK-SAME: scaled>
// CHECK: return %[[O]], %[[S]]
func.func @scaled(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %b: tensor<1x3xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %t = attn.scale %s by 0.5 : tensor<2x3xf32>
  %x = attn.bias %t, %b : tensor<2x3xf32>, tensor<1x3xf32>
  %m = attn.mask %x where causal(top_left) : tensor<2x3xf32>
  %w = attn.softmax %m : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %t : tensor<2x5xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @biased(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: %[[O:[^,]*]], %[[S:.*]] = attn.sdpa
// CHECK-SAME: returning(out, scores)
// CHECK-SAME: biased>
// CHECK: return %[[O]], %[[S]]
func.func @biased(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %b: tensor<1x3xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %t = attn.scale %s by 0.5 : tensor<2x3xf32>
  %x = attn.bias %t, %b : tensor<2x3xf32>, tensor<1x3xf32>
  %m = attn.mask %x where causal(top_left) : tensor<2x3xf32>
  %w = attn.softmax %m : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %x : tensor<2x5xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @masked(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: %[[O:[^,]*]], %[[S:.*]] = attn.sdpa
// CHECK-SAME: returning(out, scores)
// CHECK-SAME: masked>
// CHECK: return %[[O]], %[[S]]
func.func @masked(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %b: tensor<1x3xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %t = attn.scale %s by 0.5 : tensor<2x3xf32>
  %x = attn.bias %t, %b : tensor<2x3xf32>, tensor<1x3xf32>
  %m = attn.mask %x where causal(top_left) : tensor<2x3xf32>
  %w = attn.softmax %m : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %m : tensor<2x5xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @raw_without_scale(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: %[[O:[^,]*]], %[[S:.*]] = attn.sdpa
// CHECK-SAME: returning(out, scores)
// CHECK-SAME: raw>
// CHECK: return %[[O]], %[[S]]
func.func @raw_without_scale(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %b: tensor<1x3xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %x = attn.bias %s, %b : tensor<2x3xf32>, tensor<1x3xf32>
  %w = attn.softmax %x : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %s : tensor<2x5xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @scaled_by_query(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: %[[O:[^,]*]], %[[S:.*]] = attn.sdpa
// CHECK-SAME: returning(out, scores)
// CHECK-SAME: scaled>
// CHECK: return %[[O]], %[[S]]
func.func @scaled_by_query(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %b: tensor<1x3xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>) {
  %y = attn.scale %q by 0.5 : tensor<2x4xf32>
  %s = attn.scores %y, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %x = attn.bias %s, %b : tensor<2x3xf32>, tensor<1x3xf32>
  %w = attn.softmax %x : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %s : tensor<2x5xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @masked_without_bias(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: %[[O:[^,]*]], %[[S:.*]] = attn.sdpa
// CHECK-SAME: returning(out, scores)
// CHECK-SAME: masked>
// CHECK: return %[[O]], %[[S]]
func.func @masked_without_bias(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %b: tensor<1x3xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %t = attn.scale %s by 0.5 : tensor<2x3xf32>
  %m = attn.mask %t where causal(top_left) : tensor<2x3xf32>
  %w = attn.softmax %m : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %m : tensor<2x5xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @masked_before_scale(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: %[[O:[^,]*]], %[[S:.*]] = attn.sdpa
// CHECK-SAME: returning(out, scores)
// CHECK-SAME: masked>
// CHECK: return %[[O]], %[[S]]
func.func @masked_before_scale(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %b: tensor<1x3xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %m = attn.mask %s where causal(top_left) : tensor<2x3xf32>
  %t = attn.scale %m by 0.5 : tensor<2x3xf32>
  %w = attn.softmax %t : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %t : tensor<2x5xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @masked_before_bias(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: %[[O:[^,]*]], %[[S:.*]] = attn.sdpa
// CHECK-SAME: returning(out, scores)
// CHECK-SAME: masked>
// CHECK: return %[[O]], %[[S]]
func.func @masked_before_bias(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %b: tensor<1x3xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %m = attn.mask %s where causal(top_left) : tensor<2x3xf32>
  %x = attn.bias %m, %b : tensor<2x3xf32>, tensor<1x3xf32>
  %w = attn.softmax %x : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %x : tensor<2x5xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @biased_alone(
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]:
// CHECK-NOT: attn.{{(scores|scale|mask|bias|softmax|context) }}
// CHECK: %[[O:[^,]*]], %[[S:.*]] = attn.sdpa
// CHECK-SAME: returning(out, scores)
// CHECK-SAME: biased>
// CHECK: return %[[O]], %[[S]]
func.func @biased_alone(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %b: tensor<1x3xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %x = attn.bias %s, %b : tensor<2x3xf32>, tensor<1x3xf32>
  %w = attn.softmax %x : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %x : tensor<2x5xf32>, tensor<2x3xf32>
}
