// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Score functions, sinks and what stands in front of scores, written and read again.

// CHECK-LABEL: func @graph
// CHECK: attn.rope %{{.*}}, %{{.*}}, %{{.*}} interleaved at %{{.*}} : tensor<6xi32> : tensor<4x6x8xf32>, tensor<9x4xf32>
// CHECK: attn.rms_norm %{{.*}}, %{{.*}} eps {{.*}} : tensor<4x6x8xf32>, tensor<8xf32>
// CHECK: attn.softcap %{{.*}} at 3.000000e+01 : tensor<4x5x6xf32>
// CHECK: attn.score_mod %{{.*}} (%[[X:.*]]: f32, %{{.*}}, %[[H:.*]], %{{.*}}, %[[K:.*]]) with (%[[T:.*]] = %{{.*}} : tensor<4x6xf32>) {
// CHECK:   %[[Y:.*]] = tensor.extract %[[T]][%[[H]], %[[K]]]
// CHECK:   %[[Z:.*]] = arith.addf %[[X]], %[[Y]]
// CHECK:   attn.yield %[[Z]] : f32
// CHECK: } : tensor<4x5x6xf32>
// CHECK: attn.alibi %{{.*}}, %{{.*}} aligned offset by %{{.*}} : tensor<i64> : tensor<4x5x6xf32>, tensor<4xf32>
// CHECK: attn.alibi %{{.*}} aligned bottom_right : tensor<4x5x6xf32>
// CHECK: attn.softmax %{{.*}} sinks %{{.*}} : tensor<4xf32> : tensor<4x5x6xf32>
func.func @graph(%s: tensor<4x5x6xf32>, %x: tensor<4x6x8xf32>, %c: tensor<9x4xf32>, %p: tensor<6xi32>, %w: tensor<8xf32>,
                 %table: tensor<4x6xf32>, %slopes: tensor<4xf32>, %start: tensor<i64>) -> (tensor<4x5x6xf32>, tensor<4x6x8xf32>) {
  %r = attn.rope %x, %c, %c interleaved at %p : tensor<6xi32> : tensor<4x6x8xf32>, tensor<9x4xf32>
  %n = attn.rms_norm %r, %w eps 1.0e-6 : tensor<4x6x8xf32>, tensor<8xf32>
  %0 = attn.softcap %s at 30.0 : tensor<4x5x6xf32>
  %1 = attn.score_mod %0 (%score: f32, %b, %h, %q, %k) with (%t = %table : tensor<4x6xf32>) {
    %y = tensor.extract %t[%h, %k] : tensor<4x6xf32>
    %z = arith.addf %score, %y : f32
    attn.yield %z : f32
  } : tensor<4x5x6xf32>
  %2 = attn.alibi %1, %slopes aligned offset by %start : tensor<i64> : tensor<4x5x6xf32>, tensor<4xf32>
  %3 = attn.alibi %2 aligned bottom_right : tensor<4x5x6xf32>
  %4 = attn.softmax %3 sinks %slopes : tensor<4xf32> : tensor<4x5x6xf32>
  return %4, %n : tensor<4x5x6xf32>, tensor<4x6x8xf32>
}

// CHECK-LABEL: func @fused
// CHECK: attn.sdpa %{{.*}}, %{{.*}}, %{{.*}} scale 5.000000e-01 score_mod (%[[X:.*]]: f32, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) with (%{{.*}} = %{{.*}} : f32) {
// CHECK: } where causal(top_left) sinks %{{.*}} : tensor<4xf32> returning(out, scores) {scores_stage = #attn<scores_stage modified>}
func.func @fused(%q: tensor<4x5x8xf32>, %k: tensor<4x6x8xf32>, %gain: f32, %sinks: tensor<4xf32>) -> (tensor<4x5x8xf32>, tensor<4x5x6xf32>) {
  %o, %s = attn.sdpa %q, %k, %k scale 0.5 score_mod (%x: f32, %b, %h, %i, %j) with (%g = %gain : f32) {
    %y = arith.mulf %x, %g : f32
    attn.yield %y : f32
  } where causal(top_left) sinks %sinks : tensor<4xf32> returning(out, scores) {scores_stage = #attn<scores_stage modified>}
      : (tensor<4x5x8xf32>, tensor<4x6x8xf32>, tensor<4x6x8xf32>) -> (tensor<4x5x8xf32>, tensor<4x5x6xf32>)
  return %o, %s : tensor<4x5x8xf32>, tensor<4x5x6xf32>
}
