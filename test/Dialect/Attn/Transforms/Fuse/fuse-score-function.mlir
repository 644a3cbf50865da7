// RUN: attn-opt %s --attn-fuse | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softcap, score function and ALiBi become one region, in the order in which they stand.

// CHECK-LABEL: func @chain
// CHECK-SAME: (%[[Q:.*]]: tensor<?x4x?x8xf32>, %[[K:.*]]: tensor<?x4x?x8xf32>, %[[V:.*]]: tensor<?x4x?x8xf32>, %[[G:.*]]: tensor<4xf32>, %[[S:.*]]: tensor<4xf32>)
// CHECK-DAG: %[[SKV:.*]] = tensor.dim %[[K]], %{{.*}}
// CHECK-DAG: %[[SQ:.*]] = tensor.dim %[[Q]], %{{.*}}
// CHECK: %[[START:.*]] = arith.subi %[[SKV]], %[[SQ]] : index
// CHECK: attn.sdpa %[[Q]], %[[K]], %[[V]] scale 5.000000e-01 score_mod (%[[X:.*]]: f32, %{{.*}}, %[[H:.*]], %[[I:.*]], %[[J:.*]]) with (%[[C0:.*]] = %[[G]] : tensor<4xf32>, %[[C1:.*]] = %[[S]] : tensor<4xf32>, %[[C2:.*]] = %[[START]] : index) {
// CHECK-NEXT: %[[INV:.*]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT: %[[D:.*]] = arith.mulf %[[X]], %[[INV]]
// CHECK-NEXT: %[[T:.*]] = math.tanh %[[D]]
// CHECK-NEXT: %[[CAP:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-NEXT: %[[B:.*]] = arith.mulf %[[T]], %[[CAP]]
// CHECK-NEXT: %[[GAIN:.*]] = tensor.extract %[[C0]][%[[H]]]
// CHECK-NEXT: %[[M:.*]] = arith.mulf %[[B]], %[[GAIN]]
// CHECK-NEXT: %[[SLOPE:.*]] = tensor.extract %[[C1]][%[[H]]]
// CHECK-NEXT: %[[FAR:.*]] = arith.subi %[[J]], %[[I]]
// CHECK-NEXT: %[[FARTHER:.*]] = arith.subi %[[FAR]], %[[C2]]
// CHECK-NEXT: %[[W:.*]] = arith.index_cast %[[FARTHER]] : index to i64
// CHECK-NEXT: %[[F:.*]] = arith.sitofp %[[W]]
// CHECK-NEXT: %[[BIAS:.*]] = arith.mulf %[[SLOPE]], %[[F]]
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[M]], %[[BIAS]]
// CHECK-NEXT: attn.yield %[[SUM]] : f32
// CHECK-NEXT: } where causal(bottom_right) sinks %[[S]] : tensor<4xf32> :
// CHECK-NOT: attn.s{{oftcap|core_mod %}}
func.func @chain(%q: tensor<?x4x?x8xf32>, %k: tensor<?x4x?x8xf32>, %v: tensor<?x4x?x8xf32>, %gain: tensor<4xf32>, %slopes: tensor<4xf32>) -> tensor<?x4x?x8xf32> {
  %0 = attn.scores %q, %k : (tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>) -> tensor<?x4x?x?xf32>
  %1 = attn.scale %0 by 0.5 : tensor<?x4x?x?xf32>
  %2 = attn.softcap %1 at 2.0 : tensor<?x4x?x?xf32>
  %3 = attn.score_mod %2 (%s: f32, %b, %h, %i, %j) with (%g = %gain : tensor<4xf32>) {
    %x = tensor.extract %g[%h] : tensor<4xf32>
    %y = arith.mulf %s, %x : f32
    attn.yield %y : f32
  } : tensor<?x4x?x?xf32>
  %4 = attn.alibi %3, %slopes aligned bottom_right : tensor<?x4x?x?xf32>, tensor<4xf32>
  %5 = attn.mask %4 where causal(bottom_right) : tensor<?x4x?x?xf32>
  %6 = attn.softmax %5 sinks %slopes : tensor<4xf32> : tensor<?x4x?x?xf32>
  %7 = attn.context %6, %v : (tensor<?x4x?x?xf32>, tensor<?x4x?x8xf32>) -> tensor<?x4x?x8xf32>
  return %7 : tensor<?x4x?x8xf32>
}

// Slopes that are left out are constants: of 3 heads two take powers of 1/16, the third one of 1/4.
// CHECK-LABEL: func @computed
// CHECK: %[[S:.*]] = arith.constant dense<[6.250000e-02, 3.906250e-03, 2.500000e-01]> : tensor<3xf32>
// CHECK: attn.sdpa {{.*}} with (%{{.*}} = %[[S]] : tensor<3xf32>) {
func.func @computed(%q: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  %0 = attn.scores %q, %q : (tensor<3x5x8xf32>, tensor<3x5x8xf32>) -> tensor<3x5x5xf32>
  %1 = attn.alibi %0 aligned top_left : tensor<3x5x5xf32>
  %2 = attn.softmax %1 : tensor<3x5x5xf32>
  %3 = attn.context %2, %q : (tensor<3x5x5xf32>, tensor<3x5x8xf32>) -> tensor<3x5x8xf32>
  return %3 : tensor<3x5x8xf32>
}

// A second user of the modified scores gets them as a result.
// CHECK-LABEL: func @returned
// CHECK: %[[O:.*]], %[[R:.*]] = attn.sdpa {{.*}} score_mod
// CHECK: } where causal(top_left) returning(out, scores) {scores_stage = #attn<scores_stage modified>}
// CHECK: return %[[O]], %[[R]]
func.func @returned(%q: tensor<5x8xf32>) -> (tensor<5x8xf32>, tensor<5x5xf32>) {
  %0 = attn.scores %q, %q : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x5xf32>
  %1 = attn.softcap %0 at 2.0 : tensor<5x5xf32>
  %2 = attn.mask %1 where causal(top_left) : tensor<5x5xf32>
  %3 = attn.softmax %2 : tensor<5x5xf32>
  %4 = attn.context %3, %q : (tensor<5x5xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return %4, %1 : tensor<5x8xf32>, tensor<5x5xf32>
}
