// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A gradient counts the products that it needs, per visible pair.
// RUN: attn-opt %s --attn-count-flops --canonicalize --cse --split-input-file | FileCheck %s

// Of 4 and 6 features by query, key and value: 2 * (3 * 4 + 2 * 6).
// CHECK: func.func private @all.flops(
// CHECK-DAG: %[[PER:.*]] = arith.constant 4.800000e+01 : f64
// CHECK-DAG: %[[SQ:.*]] = tensor.dim %arg0, %c1
// CHECK-DAG: %[[SK:.*]] = tensor.dim %arg1, %c1
// CHECK-NOT: attn.sdpa
// CHECK: arith.mulf %{{.*}}, %[[PER]] : f64
func.func @all(%q: tensor<8x?x4xf32>, %k: tensor<2x?x4xf32>, %v: tensor<2x?x6xf32>, %o: tensor<8x?x6xf32>, %l: tensor<8x?xf32>)
    -> (tensor<8x?x4xf32>, tensor<2x?x4xf32>, tensor<2x?x6xf32>) {
  %dq, %dk, %dv = attn.sdpa_grad %q, %k, %v scale 0.5 out %o : tensor<8x?x6xf32> lse %l : tensor<8x?xf32> cotangents %o wrt ["query", "key", "value"]
      : (tensor<8x?x4xf32>, tensor<2x?x4xf32>, tensor<2x?x6xf32>, tensor<8x?x6xf32>) -> (tensor<8x?x4xf32>, tensor<2x?x4xf32>, tensor<2x?x6xf32>)
  return %dq, %dk, %dv : tensor<8x?x4xf32>, tensor<2x?x4xf32>, tensor<2x?x6xf32>
}

// -----

// Only visible pairs: 2 * (4 + 6) for the weights and the value.
// CHECK: func.func private @value.flops(
// CHECK: %[[PER:.*]] = arith.constant 2.000000e+01 : f64
// CHECK: %[[HEAD:.*]] = scf.for
// CHECK: %[[PAIRS:.*]] = arith.muli %[[HEAD]], %c3
// CHECK: arith.mulf %{{.*}}, %[[PER]] : f64
func.func @value(%q: tensor<3x5x4xf32>, %v: tensor<3x5x6xf32>, %l: tensor<3x5xf32>) -> tensor<3x5x6xf32> {
  %dv = attn.sdpa_grad %q, %q, %v scale 0.5 where causal(top_left) out %v : tensor<3x5x6xf32> lse %l : tensor<3x5xf32> cotangents %v wrt ["value"]
      : (tensor<3x5x4xf32>, tensor<3x5x4xf32>, tensor<3x5x6xf32>, tensor<3x5x6xf32>) -> (tensor<3x5x6xf32>)
  return %dv : tensor<3x5x6xf32>
}

// -----

// The gradient by sinks is a sum over rows, not over pairs.
// CHECK: func.func private @sinks.flops(
// CHECK-NEXT: %[[NONE:.*]] = arith.constant 0.0
// CHECK-NEXT: return %[[NONE]]
func.func @sinks(%q: tensor<3x5x4xf32>, %s: tensor<3xf32>, %l: tensor<3x5xf32>) -> tensor<3xf32> {
  %ds = attn.sdpa_grad %q, %q, %q scale 0.5 sinks %s : tensor<3xf32> out %q : tensor<3x5x4xf32> lse %l : tensor<3x5xf32> cotangents %q wrt ["sinks"]
      : (tensor<3x5x4xf32>, tensor<3x5x4xf32>, tensor<3x5x4xf32>, tensor<3x5x4xf32>) -> (tensor<3xf32>)
  return %ds : tensor<3xf32>
}

// -----

// Two maps: two of scores, one of the cotangent of their weights, and one for
// each gradient: 2 * (6 * 4 + 2 * 6).
// CHECK: func.func private @two_maps.flops(
// CHECK: arith.constant 7.200000e+01 : f64
func.func @two_maps(%q: tensor<?x4xf32>, %v: tensor<?x6xf32>, %l: tensor<1xf32>)
    -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<1xf32>) {
  %g:6 = attn.sdpa_grad %q, %q, %v minus %q, %q by %l : tensor<?x4xf32>, tensor<?x4xf32>, tensor<1xf32> scale 0.5
      cotangents %v wrt ["query", "key", "value", "second_query", "second_key", "lambda"]
      : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x6xf32>, tensor<?x6xf32>)
      -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<1xf32>)
  return %g#0, %g#1, %g#2, %g#3, %g#4, %g#5 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<1xf32>
}
