// Gradients that need no pass over the pairs, or are those of simpler attentions.
// RUN: attn-opt %s --attn-expand-gradients --canonicalize --cse --split-input-file | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sinks: one number per row and no kernel. A row of zeros has a delta of 0, whatever its cotangent holds.
// CHECK-LABEL: func.func @sinks
// CHECK-SAME: %[[Q:.*]]: tensor<?x4x?x8xf32>, %[[S:.*]]: tensor<4xf32>, %[[O:.*]]: tensor<?x4x?x8xf32>, %[[L:.*]]: tensor<?x4x?xf32>
// CHECK: %[[DQ:.*]] = attn.sdpa_grad
// CHECK-SAME: wrt ["query"]
// CHECK: %[[DELTA:.*]] = linalg.generic {{.*}}"parallel", "parallel", "parallel", "reduction"
// CHECK: arith.select
// CHECK: %[[DS:.*]] = linalg.generic {{.*}}iterator_types = ["reduction", "parallel", "reduction"]} ins(%[[L]], %[[DELTA]], %[[S]] :
// CHECK: math.exp
// CHECK: return %[[DQ]], %[[DS]]
func.func @sinks(%q: tensor<?x4x?x8xf32>, %s: tensor<4xf32>, %o: tensor<?x4x?x8xf32>, %l: tensor<?x4x?xf32>) -> (tensor<?x4x?x8xf32>, tensor<4xf32>) {
  %g:2 = attn.sdpa_grad %q, %q, %q scale 0.5 sinks %s : tensor<4xf32> out %o : tensor<?x4x?x8xf32> lse %l : tensor<?x4x?xf32>
      cotangents %o wrt ["query", "sinks"]
      : (tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>) -> (tensor<?x4x?x8xf32>, tensor<4xf32>)
  return %g#0, %g#1 : tensor<?x4x?x8xf32>, tensor<4xf32>
}

// -----

// Rank 2 has one head; the cotangent of lse takes part.
// CHECK-LABEL: func.func @one_sink
// CHECK-NOT: attn.sdpa_grad
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["reduction"]} ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} :
// CHECK: tensor.expand_shape %[[SUM]] [] output_shape [1]
func.func @one_sink(%q: tensor<5x8xf64>, %s: tensor<1xf64>, %l: tensor<5xf64>) -> tensor<1xf64> {
  %g = attn.sdpa_grad %q, %q, %q scale 0.5 sinks %s : tensor<1xf64> out %q : tensor<5x8xf64> lse %l : tensor<5xf64>
      cotangents %q lse %l : tensor<5xf64> wrt ["sinks"]
      : (tensor<5x8xf64>, tensor<5x8xf64>, tensor<5x8xf64>, tensor<5x8xf64>) -> (tensor<1xf64>)
  return %g : tensor<1xf64>
}

// -----

// Two maps: what each gave is computed again; the second one's cotangent carries -lambda. Heads of bshd are dimension 1.
// CHECK-LABEL: func.func @two_maps
// CHECK-SAME: %[[Q:.*]]: tensor<?x4x8xf32>, %[[Q2:.*]]: tensor<?x4x8xf32>, %[[L:.*]]: tensor<4xf32>, %[[D:.*]]: tensor<?x4x8xf32>
// CHECK: %[[O1:.*]], %[[LSE1:.*]] = attn.sdpa %[[Q]], %[[Q]], %[[Q]] scale 5.000000e-01 where causal(top_left) returning(out, lse)
// CHECK: %[[O2:.*]], %[[LSE2:.*]] = attn.sdpa %[[Q2]], %[[Q2]], %[[Q]] scale 5.000000e-01 where causal(top_left) returning(out, lse)
// CHECK: %[[G1:.*]]:2 = attn.sdpa_grad %[[Q]], %[[Q]], %[[Q]]
// CHECK-SAME: out %[[O1]] {{.*}} lse %[[LSE1]] {{.*}} cotangents %[[D]] wrt ["query", "value"]
// CHECK: %[[D2:.*]] = linalg.generic {{.*}} ins(%[[D]], %[[L]] :
// CHECK: %[[G2:.*]]:2 = attn.sdpa_grad %[[Q2]], %[[Q2]], %[[Q]]
// CHECK-SAME: out %[[O2]] {{.*}} lse %[[LSE2]] {{.*}} cotangents %[[D2]] wrt ["value", "key"]
// CHECK: %[[DV:.*]] = arith.addf %[[G1]]#1, %[[G2]]#0
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["reduction", "parallel", "reduction"]} ins(%[[D]], %[[O2]] :
// CHECK: %[[DL:.*]] = arith.negf %[[SUM]]
// CHECK: return %[[G1]]#0, %[[DV]], %[[G2]]#1, %[[DL]]
func.func @two_maps(%q: tensor<?x4x8xf32>, %q2: tensor<?x4x8xf32>, %l: tensor<4xf32>, %d: tensor<?x4x8xf32>)
    -> (tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<4xf32>) {
  %g:4 = attn.sdpa_grad %q, %q, %q minus %q2, %q2 by %l : tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<4xf32> scale 0.5 where causal(top_left)
      cotangents %d wrt ["query", "value", "second_key", "lambda"]
      {query_layout = #attn<layout bshd>, key_layout = #attn<layout bshd>, value_layout = #attn<layout bshd>, out_layout = #attn<layout bshd>}
      : (tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<?x4x8xf32>)
      -> (tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<4xf32>)
  return %g#0, %g#1, %g#2, %g#3 : tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<4xf32>
}

// -----

// Out of 16 bits is computed again in f32.
// CHECK-LABEL: func.func @narrow_maps
// CHECK: %[[O:.*]], %{{.*}} = attn.sdpa {{.*}} returning(out, lse) {{.*}} -> (tensor<5x8xf32>, tensor<5xf32>)
// CHECK: attn.sdpa_grad {{.*}} out %[[O]] : tensor<5x8xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[O]] : tensor<5x8xbf16>, tensor<5x8xf32>)
func.func @narrow_maps(%q: tensor<5x8xbf16>, %l: tensor<f32>, %d: tensor<5x8xbf16>) -> (tensor<5x8xbf16>, tensor<f32>) {
  %g:2 = attn.sdpa_grad %q, %q, %q minus %q, %q by %l : tensor<5x8xbf16>, tensor<5x8xbf16>, tensor<f32> scale 0.5 cotangents %d wrt ["query", "lambda"]
      : (tensor<5x8xbf16>, tensor<5x8xbf16>, tensor<5x8xbf16>, tensor<5x8xbf16>) -> (tensor<5x8xbf16>, tensor<f32>)
  return %g#0, %g#1 : tensor<5x8xbf16>, tensor<f32>
}

// -----

// Sigmoid has no lse.
// CHECK-LABEL: func.func @sigmoid
// CHECK-NOT: returning(out, lse)
// CHECK: attn.sdpa_grad
// CHECK-NOT: lse
// CHECK-SAME: normalization sigmoid
func.func @sigmoid(%q: tensor<5x8xf32>, %l: tensor<f32>) -> tensor<5x8xf32> {
  %g = attn.sdpa_grad %q, %q, %q minus %q, %q by %l : tensor<5x8xf32>, tensor<5x8xf32>, tensor<f32> scale 0.5 cotangents %q
      wrt ["second_query"] {normalization = #attn<normalization sigmoid>}
      : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>)
  return %g : tensor<5x8xf32>
}

// -----

// Where weights have a cotangent, the cotangent of lse has its part of delta; a weight of 0 has none.
// CHECK-LABEL: func.func @sink_and_weights
// CHECK-SAME: %[[Q:.*]]: tensor<5x8xf32>, %[[S:.*]]: tensor<1xf32>, %[[L:.*]]: tensor<5xf32>, %[[W:.*]]: tensor<5x5xf32>, %[[D:.*]]: tensor<5x5xf32>
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[W]], %[[D]] :
// CHECK: arith.cmpf oeq
// CHECK: %[[ROW:.*]] = linalg.generic {{.*}} ins(%[[SUM]], %[[L]] :
// CHECK: arith.subf
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction"]} ins(%[[L]], %{{.*}}, %{{.*}}, %[[ROW]] :
func.func @sink_and_weights(%q: tensor<5x8xf32>, %s: tensor<1xf32>, %l: tensor<5xf32>, %w: tensor<5x5xf32>, %d: tensor<5x5xf32>) -> tensor<1xf32> {
  %g = attn.sdpa_grad %q, %q, %q scale 0.5 sinks %s : tensor<1xf32> out %q : tensor<5x8xf32> lse %l : tensor<5xf32> weights %w : tensor<5x5xf32>
      cotangents %q lse %l : tensor<5xf32> weights %d : tensor<5x5xf32> wrt ["sinks"]
      : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<1xf32>)
  return %g : tensor<1xf32>
}
