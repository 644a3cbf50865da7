// The second function returns the scores at every stage that differs from the
// one before, and what the picture shows and is no argument.
// RUN: attn-opt %s --attn-return-steps --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @whole(
// CHECK-NEXT:    attn.sdpa
// CHECK-NOT:     returning
// CHECK:       func.func @whole_steps(%[[Q:.*]]: tensor<?x4xf32> {attn.name = "q"}, %[[K:.*]]: tensor<?x4xf32>, %[[V:.*]]: tensor<?x4xf32> {attn.name = "out"})
// CHECK-SAME:    -> (tensor<?x4xf32> {attn.name = "out_1"}, tensor<?x?xf32> {attn.name = "weights"}, tensor<?x?xf32> {attn.name = "scores"},
// CHECK-SAME:        tensor<?x4xf32> {attn.name = "out_2"}, tensor<?x?xf32> {attn.name = "scaled"},
// CHECK-SAME:        tensor<?x4xf32> {attn.name = "out_3"}, tensor<?x?xf32> {attn.name = "masked"})
// CHECK-SAME:    attn.picture = #attn.picture<ports = [0, 1, 2, 5, 7, 9, 4, 3], scale = 5.000000e-01 : f64, normalization = {{ ?}}softmax>
// CHECK-NEXT:    %[[O:.*]], %[[W:.*]], %[[RAW:.*]] = attn.sdpa %[[Q]], %[[K]], %[[V]] scale 5.000000e-01 where causal(top_left) returning(out, weights, scores) {scores_stage = #attn<scores_stage raw>}
// CHECK-NEXT:    %[[O1:.*]], %[[SCALED:.*]] = attn.sdpa {{.*}} returning(out, scores) {scores_stage = #attn<scores_stage scaled>}
// CHECK-NEXT:    %[[O2:.*]], %[[MASKED:.*]] = attn.sdpa {{.*}} returning(out, scores) {scores_stage = #attn<scores_stage masked>}
// CHECK-NEXT:    return %[[O]], %[[W]], %[[RAW]], %[[O1]], %[[SCALED]], %[[O2]], %[[MASKED]]
func.func @whole(%q: tensor<?x4xf32> {attn.name = "q"}, %k: tensor<?x4xf32>, %v: tensor<?x4xf32> {attn.name = "out"}) -> tensor<?x4xf32> {
  %out = attn.sdpa %q, %k, %v scale 0.5 where causal(top_left) : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %out : tensor<?x4xf32>
}

// -----

// Without scale and mask all stages are one. Keys and values are one tensor, which
// is computed; what stands behind the attention is left out.
// CHECK-LABEL: func.func @plain(
// CHECK:       func.func @plain_steps_(
// CHECK-SAME:    ports = [0, 1, 1, 4, 4, 4, 3, 2]
// CHECK-NEXT:    %[[K:.*]] = arith.addf
// CHECK-NEXT:    %[[O:.*]], %[[W:.*]], %[[RAW:.*]] = attn.sdpa %{{.*}}, %[[K]], %[[K]]
// CHECK-NEXT:    return %[[K]], %[[O]], %[[W]], %[[RAW]] : tensor<8x4xf16>, tensor<8x4xf16>, tensor<8x8xf32>, tensor<8x8xf32>
func.func @plain(%q: tensor<8x4xf16>) -> tensor<8x4xf16> {
  %k = arith.addf %q, %q : tensor<8x4xf16>
  %out = attn.sdpa %q, %k, %k scale 1.0 : (tensor<8x4xf16>, tensor<8x4xf16>, tensor<8x4xf16>) -> tensor<8x4xf16>
  %more = arith.addf %out, %out : tensor<8x4xf16>
  return %more : tensor<8x4xf16>
}
func.func private @plain_steps()

// -----

// What is not fused is refused later, with its reason.
// CHECK-LABEL: func.func @steps(
// CHECK-NOT:   attn.picture
func.func @steps(%w: tensor<8x8xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %out = attn.context %w, %v : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %out : tensor<8x4xf32>
}
