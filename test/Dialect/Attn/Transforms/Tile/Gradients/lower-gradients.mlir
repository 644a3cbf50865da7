// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-lower-gradients --split-input-file | FileCheck %s

// An item per query, and one per key with its head's group; sums in f32, rounded once. The mask is asked pair by pair.
// CHECK-LABEL: func.func @causal(
// CHECK-SAME:    %[[Q:[a-z0-9]*]]: tensor<1x4x?x8xbf16>, %[[K:[a-z0-9]*]]: tensor<1x2x?x8xbf16>, %[[OUT:[a-z0-9]*]]: tensor<1x4x?x8xf32>, %[[LSE:[a-z0-9]*]]: tensor<1x4x?xf32>, %[[D:[a-z0-9]*]]: tensor<1x4x?x8xbf16>)
// CHECK:         %[[DELTA:.*]] = linalg.generic {{.*}} ins(%[[D]], %[[OUT]]
// CHECK:         %[[DQ:.*]] = scf.forall (%[[B:.*]], %[[H:.*]], %[[I:.*]]) in (1, 4, %{{.*}}) shared_outs({{.*}}) -> (tensor<1x4x?x8xbf16>) {
// CHECK:           bufferization.alloc_tensor() : tensor<8xf32>
// CHECK:           %[[HK:.*]] = arith.divui %[[H]]
// CHECK:           %[[L:.*]] = tensor.extract %[[LSE]][%[[B]], %[[H]], %[[I]]]
// CHECK:           tensor.extract %[[DELTA]][%[[B]], %[[H]], %[[I]]]
// CHECK:           scf.for %[[J:[a-z0-9]+]] =
// CHECK:             %[[SEEN:.*]] = arith.cmpi sle, %[[J]], %[[I]]
// CHECK:             scf.if %[[SEEN]]
// CHECK:               tensor.extract %[[Q]][%[[B]], %[[H]], %[[I]],
// CHECK:               tensor.extract %[[K]][%[[B]], %[[HK]], %[[J]],
// CHECK:               %[[P:.*]] = math.exp
// CHECK:               %[[WEIGHS:.*]] = arith.cmpf une
// CHECK:               scf.if %[[WEIGHS]]
// CHECK:           arith.truncf %{{.*}} : f32 to bf16
// CHECK:           tensor.parallel_insert_slice {{.*}}[%[[B]], %[[H]], %[[I]], 0] [1, 1, 1, 8]
// CHECK:         } {mapping = [#gpu.thread<linear_dim_0>, #gpu.thread<linear_dim_1>, #gpu.thread<linear_dim_2>]}
// CHECK:         %[[OF_KEYS:.*]]:2 = scf.forall (%{{.*}}, %[[G:.*]], %{{.*}}) in
// CHECK:           %[[FIRST:.*]] = arith.muli %[[G]]
// CHECK:           scf.for %{{.*}} = %[[FIRST]]
// CHECK:         return %[[DQ]], %[[OF_KEYS]]#0, %[[OF_KEYS]]#1
func.func @causal(%q: tensor<1x4x?x8xbf16>, %k: tensor<1x2x?x8xbf16>, %out: tensor<1x4x?x8xf32>, %lse: tensor<1x4x?xf32>, %d: tensor<1x4x?x8xbf16>)
    -> (tensor<1x4x?x8xbf16>, tensor<1x2x?x8xbf16>, tensor<1x2x?x8xbf16>) {
  %dq, %dk, %dv = attn.sdpa_grad %q, %k, %k scale 0.5 where causal(top_left) out %out : tensor<1x4x?x8xf32> lse %lse : tensor<1x4x?xf32>
      cotangents %d wrt ["query", "key", "value"]
      : (tensor<1x4x?x8xbf16>, tensor<1x2x?x8xbf16>, tensor<1x2x?x8xbf16>, tensor<1x4x?x8xbf16>) -> (tensor<1x4x?x8xbf16>, tensor<1x2x?x8xbf16>, tensor<1x2x?x8xbf16>)
  return %dq, %dk, %dv : tensor<1x4x?x8xbf16>, tensor<1x2x?x8xbf16>, tensor<1x2x?x8xbf16>
}

// -----

// What nobody asked for is not computed; without a mask no pair is tested. Weights of sigmoid have no statistics.
// CHECK-LABEL: func.func @value(
// CHECK-NOT:     linalg.generic
// CHECK:         scf.forall {{.*}} -> (tensor<5x3xf32>) {
// CHECK:           math.exp
// CHECK-NOT:     scf.forall (
func.func @value(%q: tensor<4x8xf32>, %k: tensor<5x8xf32>, %v: tensor<5x3xf32>, %d: tensor<4x3xf32>) -> tensor<5x3xf32> {
  %dv = attn.sdpa_grad %q, %k, %v scale 0.5 cotangents %d wrt ["value"] {normalization = #attn<normalization sigmoid>}
      : (tensor<4x8xf32>, tensor<5x8xf32>, tensor<5x3xf32>, tensor<4x3xf32>) -> (tensor<5x3xf32>)
  return %dv : tensor<5x3xf32>
}

// -----

// An item per element of a bias; those of a captured table add to copies, which are added up in their order. Places outside are the nearest ones.
// CHECK-LABEL: func.func @learned(
// CHECK-SAME:    %[[T:[a-z0-9]*]]: tensor<3xf32>, %[[BIAS:[a-z0-9]*]]: tensor<5xf32>
// CHECK:         %[[OF_BIAS:.*]] = scf.forall (%{{.*}}) in (5) shared_outs({{.*}}) -> (tensor<5xf32>) {
// CHECK:         %[[COPIES:.*]] = scf.forall (%[[B:.*]], %[[H:.*]], %[[C:.*]]) in (1, 1, 16) shared_outs({{.*}}) -> (tensor<1x1x16x3xf32>) {
// CHECK:           linalg.fill
// CHECK:           %[[AT:.*]] = arith.maxsi
// CHECK:           tensor.extract %[[T]][%[[AT]]]
// CHECK:           %[[OLD:.*]] = tensor.extract %[[SUM:.*]][%[[AT]]]
// CHECK:           tensor.insert %{{.*}} into %[[SUM]][%[[AT]]]
// CHECK:         %[[TOTAL:.*]] = linalg.generic {{.*}} ins(%[[COPIES]]
// CHECK:         return %[[TOTAL]], %[[OF_BIAS]]
func.func @learned(%table: tensor<3xf32>, %bias: tensor<5xf32>, %q: tensor<4x8xf32>, %k: tensor<5x8xf32>, %d: tensor<4x8xf32>, %lse: tensor<4xf32>) -> (tensor<3xf32>, tensor<5xf32>) {
  %dt, %db = attn.sdpa_grad %q, %k, %k bias %bias : tensor<5xf32> scale 0.5 score_mod (%s: f32, %b, %h, %i, %j) with (%t = %table : tensor<3xf32>) {
    %x = tensor.extract %t[%j] : tensor<3xf32>
    %y = arith.addf %s, %x : f32
    attn.yield %y : f32
  } out %d : tensor<4x8xf32> lse %lse : tensor<4xf32> cotangents %d wrt ["capture_0", "bias"]
      : (tensor<4x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<4x8xf32>) -> (tensor<3xf32>, tensor<5xf32>)
  return %dt, %db : tensor<3xf32>, tensor<5xf32>
}

// -----

// CHECK-LABEL: func.func @empty(
// CHECK:         linalg.fill
// CHECK-NOT:     scf.forall
func.func @empty(%q: tensor<4x8xf32>, %k: tensor<0x8xf32>, %d: tensor<4x8xf32>, %lse: tensor<4xf32>) -> tensor<4x8xf32> {
  %dq = attn.sdpa_grad %q, %k, %k scale 0.5 out %d : tensor<4x8xf32> lse %lse : tensor<4xf32> cotangents %d wrt ["query"]
      : (tensor<4x8xf32>, tensor<0x8xf32>, tensor<0x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>)
  return %dq : tensor<4x8xf32>
}
