// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kind decode: a tile of keys is as large as its bytes in memory say. Several
// rows read it from the level-1 cache again; a single row reads a longer stream.
// RUN: attn-opt %s --attn-assign-schedule | FileCheck %s

// CHECK-LABEL: @one_f32
// CHECK: query_tile = 1, key_tile = 256, {{.*}} split_keys = 1024>
func.func @one_f32(%q: tensor<1x128xf32>, %k: tensor<?x128xf32>) -> tensor<1x128xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<1x128xf32>, tensor<?x128xf32>, tensor<?x128xf32>) -> tensor<1x128xf32>
  return %o : tensor<1x128xf32>
}

// CHECK-LABEL: @one_f16
// CHECK: query_tile = 1, key_tile = 512, {{.*}} split_keys = 1024>
func.func @one_f16(%q: tensor<1x128xf16>, %k: tensor<?x128xf16>) -> tensor<1x128xf16> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<1x128xf16>, tensor<?x128xf16>, tensor<?x128xf16>) -> tensor<1x128xf16>
  return %o : tensor<1x128xf16>
}

// Not more keys than a part has; whole groups of 16.
// CHECK-LABEL: @one_narrow
// CHECK: query_tile = 1, key_tile = 1024, {{.*}} split_keys = 1024>
// CHECK-LABEL: @one_odd
// CHECK: query_tile = 1, key_tile = 336, {{.*}} split_keys = 1008>
func.func @one_narrow(%q: tensor<1x8xf32>, %k: tensor<?x8xf32>) -> tensor<1x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<1x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<1x8xf32>
  return %o : tensor<1x8xf32>
}
func.func @one_odd(%q: tensor<1x96xf32>, %k: tensor<?x96xf32>) -> tensor<1x96xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<1x96xf32>, tensor<?x96xf32>, tensor<?x96xf32>) -> tensor<1x96xf32>
  return %o : tensor<1x96xf32>
}

// CHECK-LABEL: @two_f32
// CHECK: query_tile = 2, key_tile = 48,
// CHECK-LABEL: @two_f16
// CHECK: query_tile = 2, key_tile = 96,
func.func @two_f32(%q: tensor<2x128xf32>, %k: tensor<?x128xf32>) -> tensor<2x128xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<2x128xf32>, tensor<?x128xf32>, tensor<?x128xf32>) -> tensor<2x128xf32>
  return %o : tensor<2x128xf32>
}
func.func @two_f16(%q: tensor<2x128xf16>, %k: tensor<?x128xf16>) -> tensor<2x128xf16> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<2x128xf16>, tensor<?x128xf16>, tensor<?x128xf16>) -> tensor<2x128xf16>
  return %o : tensor<2x128xf16>
}

// The wider of keys and values counts.
// CHECK-LABEL: @two_mixed
// CHECK: query_tile = 2, key_tile = 48,
func.func @two_mixed(%q: tensor<2x128xf16>, %k: tensor<?x128xf16>, %v: tensor<?x128xf32>) -> tensor<2x128xf32> {
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<2x128xf16>, tensor<?x128xf16>, tensor<?x128xf32>) -> tensor<2x128xf32>
  return %o : tensor<2x128xf32>
}
