// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys are split where at most 1024 queries may see enough of them for two parts of some 4096, unless something needs them
// together, which is a remark.
// RUN: attn-opt %s --attn-assign-schedule --verify-diagnostics --remarks-filter-missed=attn-assign-schedule --remark-policy=all | FileCheck %s
// RUN: attn-opt %s --attn-assign-schedule="split-keys=200" | FileCheck %s --check-prefix=SMALL
// RUN: attn-opt %s --attn-assign-schedule="split-keys=1" | FileCheck %s --check-prefix=LEAST
// RUN: attn-opt %s --attn-assign-schedule="split-keys=4611686018427387904" | FileCheck %s --check-prefix=NEVER
// RUN: attn-opt %s --attn-assign-schedule="split-keys=0" | FileCheck %s --check-prefix=NEVER
// NEVER-NOT: split_queries

// CHECK-LABEL: @unknown
// CHECK: schedule = {{.*}} key_tile = 128, {{.*}} split_keys = 4096, split_queries = 1024>
// SMALL: split_keys = 128, split_queries = 1024>
// LEAST: split_keys = 128, split_queries = 1024>
func.func @unknown(%q: tensor<2x?x64xf32>, %k: tensor<2x?x64xf32>) -> tensor<2x?x64xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<2x?x64xf32>, tensor<2x?x64xf32>, tensor<2x?x64xf32>) -> tensor<2x?x64xf32>
  return %o : tensor<2x?x64xf32>
}

// CHECK-LABEL: @known
// CHECK: split_keys = 4096, split_queries = 1024>
func.func @known(%q: tensor<1024x64xf32>, %k: tensor<8192x64xf32>) -> tensor<1024x64xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<1024x64xf32>, tensor<8192x64xf32>, tensor<8192x64xf32>) -> tensor<1024x64xf32>
  return %o : tensor<1024x64xf32>
}

// CHECK-LABEL: @many_queries
// CHECK-NOT: split_keys
// CHECK-LABEL: @few_keys
// CHECK-NOT: split_keys
func.func @many_queries(%q: tensor<1025x64xf32>, %k: tensor<?x64xf32>) -> tensor<1025x64xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<1025x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<1025x64xf32>
  return %o : tensor<1025x64xf32>
}
func.func @few_keys(%q: tensor<17x64xf32>, %k: tensor<8063x64xf32>) -> tensor<17x64xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<17x64xf32>, tensor<8063x64xf32>, tensor<8063x64xf32>) -> tensor<17x64xf32>
  return %o : tensor<17x64xf32>
}

// A key tile of 256 features is smaller, and so is the part.
// CHECK-LABEL: @wide
// CHECK: key_tile = 48, {{.*}} split_keys = 4080, split_queries = 1024>
func.func @wide(%q: tensor<17x256xf32>, %k: tensor<?x256xf32>) -> tensor<17x256xf32> {
  %o = attn.sdpa %q, %k, %k scale 1.0 : (tensor<17x256xf32>, tensor<?x256xf32>, tensor<?x256xf32>) -> tensor<17x256xf32>
  return %o : tensor<17x256xf32>
}

// CHECK-LABEL: @weights
// CHECK-NOT: split_keys
// CHECK-LABEL: @sigmoid
// CHECK-NOT: split_keys
// CHECK-LABEL: @documents
// CHECK-NOT: split_queries
func.func @weights(%q: tensor<17x64xf32>, %k: tensor<?x64xf32>) -> (tensor<17x64xf32>, tensor<17x?xf32>) {
  // expected-remark @below {{the keys of few queries are not split into parallel items: weights and scores need the sum over all keys}}
  %o, %w = attn.sdpa %q, %k, %k scale 1.0 returning(out, weights) : (tensor<17x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) -> (tensor<17x64xf32>, tensor<17x?xf32>)
  return %o, %w : tensor<17x64xf32>, tensor<17x?xf32>
}
func.func @sigmoid(%q: tensor<17x64xf32>, %k: tensor<?x64xf32>) -> tensor<17x64xf32> {
  // expected-remark @below {{the keys of few queries are not split into parallel items: weights by sigmoid have no sums to merge}}
  %o = attn.sdpa %q, %k, %k scale 1.0 {normalization = #attn<normalization sigmoid>} : (tensor<17x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<17x64xf32>
  return %o : tensor<17x64xf32>
}
func.func @documents(%q: tensor<17x64xf32>, %k: tensor<?x64xf32>, %i: tensor<17xi32>, %j: tensor<?xi32>) -> tensor<17x64xf32> {
  // expected-remark @below {{the keys of few queries are not split into parallel items: rows see few of all keys, those of their documents}}
  %o = attn.sdpa %q, %k, %k scale 1.0 where document(%i : tensor<17xi32>, %j : tensor<?xi32>) : (tensor<17x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<17x64xf32>
  return %o : tensor<17x64xf32>
}
