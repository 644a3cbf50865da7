// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known to have no features gets one that is 0, or as many as a pinned schedule needs; what has no results goes.
// RUN: attn-opt %s --attn-replace-empty --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @no_key_features(
// CHECK-DAG: %[[Q:.*]] = linalg.fill {{.*}} -> tensor<?x4x?x1xf32>
// CHECK-DAG: %[[K:.*]] = linalg.fill {{.*}} -> tensor<?x2x?x1xf32>
// CHECK: attn.sdpa %{{.*}}, %{{.*}}, %arg2 {{.*}} : (tensor<?x4x?x1xf32>, tensor<?x2x?x1xf32>, tensor<?x2x?x8xf32>) -> tensor<?x4x?x8xf32>
func.func @no_key_features(%q: tensor<?x4x?x0xf32>, %k: tensor<?x2x?x0xf32>, %v: tensor<?x2x?x8xf32>) -> tensor<?x4x?x8xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.5 : (tensor<?x4x?x0xf32>, tensor<?x2x?x0xf32>, tensor<?x2x?x8xf32>) -> tensor<?x4x?x8xf32>
  return %o : tensor<?x4x?x8xf32>
}

// -----

// All three are one tensor.
// CHECK-LABEL: func.func @no_features(
// CHECK: %[[OUT:.*]] = tensor.empty({{.*}}) : tensor<?x0xbf16>
// CHECK: %[[ALL:.*]], %[[LSE:.*]] = attn.sdpa {{.*}} returning(out, lse) {{.*}} : (tensor<?x16xbf16>, tensor<?x16xbf16>, tensor<?x16xbf16>) -> (tensor<?x16xbf16>, tensor<?xf32>)
// CHECK: return %[[OUT]], %[[LSE]]
#pairs = #attn.cpu_schedule<lanes = 8, rows = 4, vectors = 2, query_tile = 4, key_tile = 16, unroll = 2, prefetch = 0, kind = decode, split_keys = 64, products = dot>
func.func @no_features(%x: tensor<?x0xbf16>) -> (tensor<?x0xbf16>, tensor<?xf32>) {
  %o, %lse = attn.sdpa %x, %x, %x scale 0.5 returning(out, lse) {decode_schedule = #pairs} : (tensor<?x0xbf16>, tensor<?x0xbf16>, tensor<?x0xbf16>) -> (tensor<?x0xbf16>, tensor<?xf32>)
  return %o, %lse : tensor<?x0xbf16>, tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @no_value_features(
// CHECK: %[[ACC:.*]] = tensor.empty({{.*}}) : tensor<?x0xf32>
// CHECK: attn.sdpa %arg0, %arg1, %{{.*}} returning(out, state) {{.*}} -> (tensor<?x1xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?x1xf32>)
// CHECK: attn.merge_states {{.*}} : tensor<?xf32>, tensor<?x1xf32>
// CHECK: attn.finalize_state {{.*}} -> (tensor<?x1xf32>, tensor<?xf32>)
// CHECK: return %{{.*}}, %{{.*}} : tensor<?x0xf32>, tensor<?xf32>
func.func @no_value_features(%q: tensor<?x4xf32>, %k: tensor<?x4xf32>, %v: tensor<?x0xf32>) -> (tensor<?x0xf32>, tensor<?xf32>) {
  %o, %m, %l, %a = attn.sdpa %q, %k, %v scale 0.5 returning(out, state) : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x0xf32>) -> (tensor<?x0xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?x0xf32>)
  %m2, %l2, %a2 = attn.merge_states %m, %l, %a with %m, %l, %a : tensor<?xf32>, tensor<?x0xf32>
  %r, %lse = attn.finalize_state %m2, %l2, %a2 : (tensor<?xf32>, tensor<?xf32>, tensor<?x0xf32>) -> (tensor<?x0xf32>, tensor<?xf32>)
  return %r, %lse : tensor<?x0xf32>, tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @projections(
// CHECK: %[[BIAS:.*]] = linalg.broadcast ins(%{{.*}} : tensor<3xf32>) outs(%{{.*}} : tensor<?x3xf32>) dimensions = [0]
// CHECK: %[[ZERO:.*]] = linalg.fill {{.*}} -> tensor<?x3xf32>
// CHECK: %[[NONE:.*]] = tensor.empty({{.*}}) : tensor<?x0xf32>
// CHECK: return %[[BIAS]], %[[ZERO]], %[[NONE]]
func.func @projections(%x: tensor<?x0xf32>, %w: tensor<0x3xf32>, %b: tensor<3xf32>, %y: tensor<?x5xf32>, %u: tensor<5x0xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x0xf32>) {
  %0 = attn.project %x, %w, %b : (tensor<?x0xf32>, tensor<0x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %1 = attn.project %x, %w : (tensor<?x0xf32>, tensor<0x3xf32>) -> tensor<?x3xf32>
  %2 = attn.project %y, %u : (tensor<?x5xf32>, tensor<5x0xf32>) -> tensor<?x0xf32>
  return %0, %1, %2 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x0xf32>
}

// -----

// CHECK-LABEL: func.func @no_rows(
// CHECK-NOT: attn.
func.func @no_rows(%q: tensor<0x8xf32>, %k: tensor<5x8xf32>) -> (tensor<0x8xf32>, tensor<0x5xf32>, tensor<0x8xf32>) {
  %n = attn.rms_norm %q eps 1.0e-6 : tensor<0x8xf32>
  %o, %w = attn.sdpa %n, %k, %k scale 0.5 returning(out, weights) : (tensor<0x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<0x8xf32>, tensor<0x5xf32>)
  %s = attn.scale %n by 2.0 : tensor<0x8xf32>
  return %o, %w, %s : tensor<0x8xf32>, tensor<0x5xf32>, tensor<0x8xf32>
}

// -----

// No keys: the length stays as it is.
// CHECK-LABEL: func.func @no_keys(
// CHECK: attn.sdpa %arg0, %arg1, %arg1 {{.*}} : (tensor<3x8xf32>, tensor<0x8xf32>, tensor<0x8xf32>) -> tensor<3x8xf32>
func.func @no_keys(%q: tensor<3x8xf32>, %k: tensor<0x8xf32>) -> tensor<3x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 : (tensor<3x8xf32>, tensor<0x8xf32>, tensor<0x8xf32>) -> tensor<3x8xf32>
  return %o : tensor<3x8xf32>
}

// -----

// Nor does a cast hide that there are none.
// CHECK-LABEL: func.func @cast_keys(
// CHECK: attn.sdpa %arg0, %arg1, %arg1 {{.*}} : (tensor<3x8xf32>, tensor<0x8xf32>, tensor<0x8xf32>) -> tensor<3x8xf32>
func.func @cast_keys(%q: tensor<3x8xf32>, %k: tensor<0x8xf32>) -> tensor<3x8xf32> {
  %c = tensor.cast %k : tensor<0x8xf32> to tensor<?x8xf32>
  %o = attn.sdpa %q, %c, %c scale 0.5 : (tensor<3x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<3x8xf32>
  return %o : tensor<3x8xf32>
}
