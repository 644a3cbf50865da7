// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two states of one item: one step for both, then one result of both. Sinks are added to each.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @heads(
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]], %{{.*}}) in (%{{.*}}, 8, %{{.*}})
// CHECK: %[[KV:.*]] = arith.divui %[[H]], %c4
// CHECK: %[[Q1:.*]] = tensor.extract_slice %arg0[%[[B]], %[[H]], %[[BEGIN:.*]], 0]
// CHECK: %[[K1:.*]] = tensor.extract_slice %arg1[%[[B]], %[[KV]], 0, 0]
// CHECK: %[[V:.*]] = tensor.extract_slice %arg4[%[[B]], %[[KV]], 0, 0]
// CHECK: %[[A:.*]] = attn.init_state %[[Q1]] scale 5.000000e-01
// CHECK: %[[Q2:.*]] = tensor.extract_slice %arg2[%[[B]], %[[H]], %[[BEGIN]], 0]
// CHECK: %[[C:.*]] = attn.init_state %[[Q2]] scale 5.000000e-01
// CHECK: %[[K2:.*]] = tensor.extract_slice %arg3[%[[B]], %[[KV]], 0, 0]
// CHECK: %[[N1:.*]], %[[N2:.*]] = attn.online %[[A]], %[[K1]], %[[V]] {{.*}} where causal(top_left) mode edge second %[[C]], %[[K2]] : !attn.state<16 x 4 x 4, f32>, tensor<?x4xf32>
// CHECK: %[[SINK:.*]] = tensor.extract %arg6[%[[H]]]
// CHECK: %[[E1:.*]] = attn.add_sink %[[N1]], %[[SINK]]
// CHECK: %[[E2:.*]] = attn.add_sink %[[N2]], %[[SINK]]
// CHECK: %[[L:.*]] = tensor.extract %arg5[%[[H]]]
// CHECK: attn.finalize_difference %[[E1]], %[[E2]] by %[[L]] outs(%{{.*}} : tensor<?x4xf32>)
func.func @heads(%q1: tensor<?x8x?x4xf32>, %k1: tensor<?x2x?x4xf32>, %q2: tensor<?x8x?x4xf32>, %k2: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x4xf32>, %l: tensor<8xf32>, %sinks: tensor<8xf32>) -> tensor<?x8x?x4xf32> {
  %o = attn.sdpa %q1, %k1, %v minus %q2, %k2 by %l : tensor<8xf32> scale 0.5 where causal(top_left) sinks %sinks : tensor<8xf32> {schedule = #s} : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// One factor for all heads, of one element or none.
// CHECK-LABEL: @one(
// CHECK: attn.online {{.*}} mode full second
// CHECK: tensor.extract %arg4[%c0] : tensor<1xf32>
// CHECK: attn.finalize_difference
// CHECK-LABEL: @number(
// CHECK: tensor.extract %arg4[] : tensor<f32>
func.func @one(%q1: tensor<?x8x?x4xf32>, %k1: tensor<?x2x?x4xf32>, %q2: tensor<?x8x?x4xf32>, %k2: tensor<?x2x?x4xf32>, %l: tensor<1xf32>) -> tensor<?x8x?x4xf32> {
  %o = attn.sdpa %q1, %k1, %k1 minus %q2, %k2 by %l : tensor<1xf32> scale 0.5 {schedule = #s} : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}
func.func @number(%q1: tensor<5x4xf32>, %k1: tensor<7x4xf32>, %q2: tensor<5x4xf32>, %k2: tensor<7x4xf32>, %l: tensor<f32>) -> tensor<5x4xf32> {
  %o = attn.sdpa %q1, %k1, %k1 minus %q2, %k2 by %l : tensor<f32> scale 0.5 {schedule = #s} : (tensor<5x4xf32>, tensor<7x4xf32>, tensor<7x4xf32>) -> tensor<5x4xf32>
  return %o : tensor<5x4xf32>
}

// Without keys, zeros.
// CHECK-LABEL: @no_keys(
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[Z:.*]] = linalg.fill ins(%[[ZERO]] : f32)
// CHECK: return %[[Z]]
func.func @no_keys(%q: tensor<5x4xf32>, %k: tensor<0x4xf32>, %l: tensor<f32>) -> tensor<5x4xf32> {
  %o = attn.sdpa %q, %k, %k minus %q, %k by %l : tensor<f32> scale 0.5 {schedule = #s} : (tensor<5x4xf32>, tensor<0x4xf32>, tensor<0x4xf32>) -> tensor<5x4xf32>
  return %o : tensor<5x4xf32>
}

// Document by document.
// CHECK-LABEL: @documents(
// CHECK: scf.while
// CHECK: attn.online {{.*}} second
// CHECK: attn.finalize_difference
func.func @documents(%q: tensor<?x8x?x4xf32>, %k: tensor<?x2x?x4xf32>, %l: tensor<f32>, %ids: tensor<?xi32>) -> tensor<?x8x?x4xf32> {
  %o = attn.sdpa %q, %k, %k minus %q, %k by %l : tensor<f32> scale 0.5 where document(%ids : tensor<?xi32>) {schedule = #s} : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}
