// Two functions beside the one that learns: results with residuals, gradients.
// RUN: attn-opt %s --attn-differentiate --split-input-file | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The cotangent of out; out is a residual that the function returns anyway.
// CHECK-LABEL: func.func @attention(
// CHECK-NOT:     attn.gradient
// CHECK-NEXT:    attn.sdpa
// CHECK-NOT:     returning
// CHECK:       func.func @attention_forward(
// CHECK-SAME:    -> (tensor<?x8xf32> {attn.name = "o"}, tensor<?xf32> {attn.name = "residual_0"})
// CHECK-NEXT:    %[[O:.*]], %[[L:.*]] = attn.sdpa {{.*}} where causal(top_left) returning(out, lse)
// CHECK-NEXT:    return %[[O]], %[[L]]
// CHECK:       func.func @attention_gradient(%[[Q:.*]]: tensor<?x8xf32> {attn.name = "q", attn.sizes = ["q0", ""]}, %[[K:.*]]: tensor<?x8xf32> {attn.name = "k", attn.sizes = ["k0", ""]}, %[[V:.*]]: tensor<?x8xf32> {attn.name = "v", attn.sizes = ["k0", ""]}, %[[O:.*]]: tensor<?x8xf32> {attn.name = "o", attn.residual, attn.sizes = ["q0", ""]}, %[[L:.*]]: tensor<?xf32> {attn.name = "residual_0", attn.residual, attn.sizes = ["q0"]}, %[[D:.*]]: tensor<?x8xf32> {attn.name = "d_o", attn.optional, attn.sizes = ["q0", ""]})
// CHECK-SAME:    -> (tensor<?x8xf32> {attn.name = "d_q"}, tensor<?x8xf32> {attn.name = "d_v"})
// CHECK-NEXT:    %[[G:.*]]:2 = attn.sdpa_grad %[[Q]], %[[K]], %[[V]] scale 5.000000e-01 where causal(top_left) out %[[O]] : tensor<?x8xf32> lse %[[L]] : tensor<?xf32> cotangents %[[D]] wrt ["query", "value"]
// CHECK-NEXT:    return %[[G]]#0, %[[G]]#1
func.func @attention(%q: tensor<?x8xf32> {attn.name = "q", attn.gradient}, %k: tensor<?x8xf32> {attn.name = "k"}, %v: tensor<?x8xf32> {attn.name = "v", attn.gradient}) -> (tensor<?x8xf32> {attn.name = "o"}) {
  %o = attn.sdpa %q, %k, %v scale 0.5 where causal(top_left) : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %o : tensor<?x8xf32>
}

// -----

// A tensor in three places gets a sum; what is cheap, here the scale, is
// computed again; a value with a second use, too.
// CHECK-LABEL: func.func @same_gradient(
// CHECK:         %[[S:.*]] = attn.scale %{{.*}} by 2.0
// CHECK-NOT:     attn.sdpa %
// CHECK:         %[[G:.*]]:3 = attn.sdpa_grad %[[S]], %[[S]], %[[S]]
// CHECK:         %[[A:.*]] = arith.addf %[[G]]#0, %[[G]]#1
// CHECK:         %[[B:.*]] = arith.addf %[[A]], %[[G]]#2
// CHECK:         %[[X:.*]] = attn.scale %[[B]] by 2.0
// CHECK:         return %[[X]]
func.func @same(%x: tensor<6x8xf32> {attn.gradient}) -> tensor<6x8xf32> {
  %s = attn.scale %x by 2.0 : tensor<6x8xf32>
  %o = attn.sdpa %s, %s, %s scale 0.5 : (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  return %o : tensor<6x8xf32>
}

// -----

// Results of projections are kept; a weight's gradient is a projection of all
// rows, an input's one by the transposed weight.
// CHECK-LABEL: func.func @projected_forward(
// CHECK:         %[[P:.*]] = attn.project
// CHECK:         return %{{.*}}, %[[P]], %{{.*}}, %{{.*}} : tensor<2x6x4xf32>, tensor<2x6x8xf32>
// CHECK-LABEL: func.func @projected_gradient(
// CHECK-NOT:     attn.sdpa %
// CHECK:         attn.sdpa_grad
// CHECK-SAME:      wrt ["query"]
// CHECK:         attn.project %{{.*}}, %{{.*}} : (tensor<8x12xf32>, tensor<12x8xf32>) -> tensor<8x8xf32>
func.func @projected(%x: tensor<2x6x8xf32>, %w: tensor<8x8xf32> {attn.gradient}, %k: tensor<2x7x8xf32>, %v: tensor<2x7x4xf32>) -> tensor<2x6x4xf32> {
  %p = attn.project %x, %w : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
  %q = tensor.expand_shape %p [[0], [1, 2], [3]] output_shape [2, 1, 6, 8] : tensor<2x6x8xf32> into tensor<2x1x6x8xf32>
  %kh = tensor.expand_shape %k [[0], [1, 2], [3]] output_shape [2, 1, 7, 8] : tensor<2x7x8xf32> into tensor<2x1x7x8xf32>
  %vh = tensor.expand_shape %v [[0], [1, 2], [3]] output_shape [2, 1, 7, 4] : tensor<2x7x4xf32> into tensor<2x1x7x4xf32>
  %o = attn.sdpa %q, %kh, %vh scale 0.5 : (tensor<2x1x6x8xf32>, tensor<2x1x7x8xf32>, tensor<2x1x7x4xf32>) -> tensor<2x1x6x4xf32>
  %out = tensor.collapse_shape %o [[0], [1, 2], [3]] : tensor<2x1x6x4xf32> into tensor<2x6x4xf32>
  return %out : tensor<2x6x4xf32>
}

// -----

// Parts of the keys have the residuals of the whole.
// CHECK-LABEL: func.func @parts_gradient(
// CHECK-NOT:     attn.merge_states
// CHECK:         attn.sdpa_grad %{{.*}}, %[[K1:.*]], %[[K1]] {{.*}} out %[[O:.*]] : tensor<5x8xf32> lse %[[L:.*]] : tensor<5xf32>
// CHECK:         attn.sdpa_grad %{{.*}}, %[[K2:.*]], %[[K2]] {{.*}} out %[[O]] : tensor<5x8xf32> lse %[[L]] : tensor<5xf32>
func.func @parts(%q: tensor<5x8xf32> {attn.gradient}, %k1: tensor<6x8xf32>, %k2: tensor<7x8xf32>) -> tensor<5x8xf32> {
  %o1, %m1, %l1, %a1 = attn.sdpa %q, %k1, %k1 scale 0.5 returning(out, state) : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> (tensor<5x8xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>)
  %o2, %m2, %l2, %a2 = attn.sdpa %q, %k2, %k2 scale 0.5 returning(out, state) : (tensor<5x8xf32>, tensor<7x8xf32>, tensor<7x8xf32>) -> (tensor<5x8xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>)
  %m, %l, %a = attn.merge_states %m1, %l1, %a1 with %m2, %l2, %a2 : tensor<5xf32>, tensor<5x8xf32>
  %o = attn.finalize_state %m, %l, %a : (tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// -----

// A part that is constant, such as a cache in front of what is learned, has no gradient.
// CHECK-LABEL: func.func @constant_part_gradient(
// CHECK:         %[[G:.*]]:2 = attn.sdpa_grad {{.*}} wrt ["key", "value"]
// CHECK-NOT:     attn.sdpa_grad
func.func @constant_part(%q: tensor<5x8xf32>, %past: tensor<6x8xf32>, %k: tensor<7x8xf32> {attn.gradient}) -> tensor<5x8xf32> {
  %o1, %m1, %l1, %a1 = attn.sdpa %q, %past, %past scale 0.5 returning(out, state) : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> (tensor<5x8xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>)
  %o2, %m2, %l2, %a2 = attn.sdpa %q, %k, %k scale 0.5 returning(out, state) : (tensor<5x8xf32>, tensor<7x8xf32>, tensor<7x8xf32>) -> (tensor<5x8xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>)
  %m, %l, %a = attn.merge_states %m1, %l1, %a1 with %m2, %l2, %a2 : tensor<5xf32>, tensor<5x8xf32>
  %o = attn.finalize_state %m, %l, %a : (tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// -----

// An out of 16 bits is kept in f32, and rounded behind the attention; its
// cotangent is what the caller gave.
// CHECK-LABEL: func.func @narrow_forward(
// CHECK-SAME:    -> (tensor<5x8xbf16> {attn.name = "o"}, tensor<5x8xf32> {attn.name = "residual_0"}, tensor<5xf32> {attn.name = "residual_1"})
// CHECK-NEXT:    %[[O:.*]], %[[L:.*]] = attn.sdpa {{.*}} returning(out, lse) : (tensor<5x8xbf16>, tensor<5x8xbf16>, tensor<5x8xbf16>) -> (tensor<5x8xf32>, tensor<5xf32>)
// CHECK-NEXT:    %[[R:.*]] = arith.truncf %[[O]] : tensor<5x8xf32> to tensor<5x8xbf16>
// CHECK-NEXT:    return %[[R]], %[[O]], %[[L]]
// CHECK-LABEL: func.func @narrow_gradient(
// CHECK-SAME:    %[[D:[a-z0-9]+]]: tensor<5x8xbf16> {attn.name = "d_o", attn.optional}
// CHECK:         attn.sdpa_grad {{.*}} out %{{.*}} : tensor<5x8xf32> lse %{{.*}} : tensor<5xf32> cotangents %[[D]] wrt ["query"]
func.func @narrow(%q: tensor<5x8xbf16> {attn.gradient}, %k: tensor<5x8xbf16>) -> (tensor<5x8xbf16> {attn.name = "o"}) {
  %o = attn.sdpa %q, %k, %k scale 0.5 : (tensor<5x8xbf16>, tensor<5x8xbf16>, tensor<5x8xbf16>) -> tensor<5x8xbf16>
  return %o : tensor<5x8xbf16>
}

// -----

// Unless the function says that the rounded one will do.
// CHECK-LABEL: func.func @rounded_forward(
// CHECK-SAME:    -> (tensor<5x8xf16> {attn.name = "o"}, tensor<5xf32> {attn.name = "residual_0"})
// CHECK-NEXT:    %[[O:.*]], %[[L:.*]] = attn.sdpa
// CHECK-NEXT:    return %[[O]], %[[L]] :
// CHECK-LABEL: func.func @rounded_gradient(
// CHECK:         attn.sdpa_grad {{.*}} out %{{.*}} : tensor<5x8xf16> lse
func.func @rounded(%q: tensor<5x8xf16> {attn.gradient}, %k: tensor<5x8xf16>) -> (tensor<5x8xf16> {attn.name = "o"}) attributes {attn.rounded_residuals} {
  %o = attn.sdpa %q, %k, %k scale 0.5 : (tensor<5x8xf16>, tensor<5x8xf16>, tensor<5x8xf16>) -> tensor<5x8xf16>
  return %o : tensor<5x8xf16>
}

// -----

// Of a state in parts, too: the whole is rounded behind attn.finalize_state.
// CHECK-LABEL: func.func @narrow_parts_forward(
// CHECK:         %[[O:.*]], %{{.*}} = attn.finalize_state {{.*}} -> (tensor<5x8xf32>, tensor<5xf32>)
// CHECK-NEXT:    arith.truncf %[[O]]
func.func @narrow_parts(%q: tensor<5x8xbf16> {attn.gradient}, %k: tensor<6x8xbf16>) -> tensor<5x8xbf16> {
  %o1, %m, %l, %a = attn.sdpa %q, %k, %k scale 0.5 returning(out, state) : (tensor<5x8xbf16>, tensor<6x8xbf16>, tensor<6x8xbf16>) -> (tensor<5x8xbf16>, tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>)
  %o = attn.finalize_state %m, %l, %a : (tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>) -> tensor<5x8xbf16>
  return %o : tensor<5x8xbf16>
}

// -----

// Weights with a cotangent are a residual: a result of the function, or one more.
// CHECK-LABEL: func.func @weights_gradient(
// CHECK-SAME:    %[[W:[a-z0-9]*]]: tensor<5x5xf32> {attn.name = "w", attn.residual}
// CHECK-SAME:    %[[D:[a-z0-9]*]]: tensor<5x5xf32> {attn.name = "d_w", attn.optional}
// CHECK:         attn.sdpa_grad {{.*}} weights %[[W]] : tensor<5x5xf32> cotangents %{{.*}} weights %[[D]] : tensor<5x5xf32>
func.func @weights(%q: tensor<5x8xf32> {attn.gradient}) -> (tensor<5x8xf32>, tensor<5x5xf32> {attn.name = "w"}) {
  %o, %w = attn.sdpa %q, %q, %q scale 0.5 returning(out, weights) : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>, tensor<5x5xf32>)
  return %o, %w : tensor<5x8xf32>, tensor<5x5xf32>
}

// -----

// Sigmoid's are computed again.
// CHECK-LABEL: func.func @sigmoid_forward(
// CHECK-SAME:    -> (tensor<5x8xf32>, tensor<5x5xf32>)
// CHECK-LABEL: func.func @sigmoid_gradient(
// CHECK-NOT:     residual
// CHECK:         attn.sdpa_grad {{.*}} scale 5.000000e-01 cotangents %{{.*}} weights
func.func @sigmoid(%q: tensor<5x8xf32> {attn.gradient}) -> (tensor<5x8xf32>, tensor<5x5xf32>) {
  %o, %w = attn.sdpa %q, %q, %q scale 0.5 returning(out, weights) {normalization = #attn<normalization sigmoid>} : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>, tensor<5x5xf32>)
  return %o, %w : tensor<5x8xf32>, tensor<5x5xf32>
}

// Each part of joined keys gets its part of the cotangent.
// CHECK-LABEL: func.func @joined_gradient(
// CHECK-SAME:    %[[X:.*]]: tensor<?x8xf32> {attn.name = "x"{{.*}}, %[[Y:.*]]: tensor<3x8xf32> {attn.name = "y"{{.*}}, %[[D:[^:]*]]: tensor<?x8xf32> {attn.name = "d_o"
// CHECK:         %[[N:.*]] = tensor.dim %[[X]]
// CHECK:         %[[DX:.*]] = tensor.extract_slice %[[D]][0, 0] [%[[N]], 8] [1, 1]
// CHECK:         %[[DY:.*]] = tensor.extract_slice %[[D]][%{{.*}}, 0] [3, 8] [1, 1]
// CHECK:         return %[[DX]], %[[DY]]
func.func @joined(%x: tensor<?x8xf32> {attn.gradient, attn.name = "x"}, %y: tensor<3x8xf32> {attn.gradient, attn.name = "y"}) -> (tensor<?x8xf32> {attn.name = "o"}) {
  %o = tensor.concat dim(0) %x, %y : (tensor<?x8xf32>, tensor<3x8xf32>) -> tensor<?x8xf32>
  return %o : tensor<?x8xf32>
}

// -----

// What is not taken gets nothing, though its derivative is infinite; where
// nothing chooses, a derivative is a product and nothing else.
// CHECK-LABEL: func.func @chosen_gradient(
// CHECK:       %[[TAKEN:.*]] = arith.select %{{.*}}, %[[D:.*]], %{{.*}} : tensor<4xi1>, tensor<4xf64>
// CHECK:       %[[SLOPE:.*]] = arith.divf %[[TAKEN]], %{{.*}}
// CHECK:       %[[NONE:.*]] = arith.cmpf oeq, %[[TAKEN]], %{{.*}}
// CHECK:       %[[X:.*]] = arith.select %[[NONE]], %[[TAKEN]], %[[SLOPE]]
// CHECK:       return %[[X]]
func.func @chosen(%x: tensor<4xf64> {attn.gradient}) -> tensor<4xf64> {
  %z = arith.constant dense<0.0> : tensor<4xf64>
  %p = arith.cmpf ogt, %x, %z : tensor<4xf64>
  %r = math.sqrt %x : tensor<4xf64>
  %y = arith.select %p, %r, %z : tensor<4xi1>, tensor<4xf64>
  return %y : tensor<4xf64>
}

// -----

// CHECK-LABEL: func.func @plain_gradient(
// CHECK-NOT:   arith.select
// CHECK:       return
func.func @plain(%x: tensor<4xf64> {attn.gradient}) -> tensor<4xf64> {
  %r = math.sqrt %x : tensor<4xf64>
  return %r : tensor<4xf64>
}

// -----

// Nothing is learned: nothing changes.
// CHECK-LABEL: func.func @plain(
// CHECK-NOT:     func.func
func.func @plain(%q: tensor<5x8xf32>) -> tensor<5x8xf32> {
  return %q : tensor<5x8xf32>
}
