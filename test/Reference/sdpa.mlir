// RUN: attn-reference %s | FileCheck %s
// The fused op: all results, stages, layouts, groups, and what it must not read.

// q*k is 2 ln 3, so the scaled score is ln 3: weights 3/4 and 1/4, lse ln 4.
// CHECK-LABEL: @results
// CHECK-NEXT{LITERAL}: [[7, 70], [6, 60]]
// CHECK-NEXT: [1.38629436, 0.693147181]
// CHECK-NEXT{LITERAL}: [[0.75, 0.25], [0.5, 0.5]]
// CHECK-NEXT{LITERAL}: [[2.19722458, 0], [0, 0]]
func.func @results() -> (tensor<2x2xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<2x2xf64>) {
  %q = arith.constant dense<[[2.1972245773362196], [0.0]]> : tensor<2x1xf64>
  %k = arith.constant dense<[[1.0], [0.0]]> : tensor<2x1xf64>
  %v = arith.constant dense<[[8.0, 80.0], [4.0, 40.0]]> : tensor<2x2xf64>
  %out, %lse, %weights, %scores = attn.sdpa %q, %k, %v scale 0.5 returning(out, lse, weights, scores)
      {scores_stage = #attn<scores_stage raw>}
      : (tensor<2x1xf64>, tensor<2x1xf64>, tensor<2x2xf64>)
      -> (tensor<2x2xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<2x2xf64>)
  return %out, %lse, %weights, %scores : tensor<2x2xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<2x2xf64>
}

// Scale, then bias, then exclusion.
// CHECK-LABEL: @stages
// CHECK-NEXT{LITERAL}: [[2, 4], [4, 8]]
// CHECK-NEXT{LITERAL}: [[1, 2], [2, 4]]
// CHECK-NEXT{LITERAL}: [[11, 22], [12, 24]]
// CHECK-NEXT{LITERAL}: [[11, -inf], [12, 24]]
func.func @stages() -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %q = arith.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %k = arith.constant dense<[[2.0], [4.0]]> : tensor<2x1xf32>
  %b = arith.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %o0, %raw = attn.sdpa %q, %k, %k bias %b : tensor<2xf32> scale 0.5 where causal(top_left) returning(out, scores)
      {scores_stage = #attn<scores_stage raw>}
      : (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) -> (tensor<2x1xf32>, tensor<2x2xf32>)
  %o1, %scaled = attn.sdpa %q, %k, %k bias %b : tensor<2xf32> scale 0.5 where causal(top_left) returning(out, scores)
      {scores_stage = #attn<scores_stage scaled>}
      : (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) -> (tensor<2x1xf32>, tensor<2x2xf32>)
  %o2, %biased = attn.sdpa %q, %k, %k bias %b : tensor<2xf32> scale 0.5 where causal(top_left) returning(out, scores)
      {scores_stage = #attn<scores_stage biased>}
      : (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) -> (tensor<2x1xf32>, tensor<2x2xf32>)
  %o3, %masked = attn.sdpa %q, %k, %k bias %b : tensor<2xf32> scale 0.5 where causal(top_left) returning(out, scores)
      {scores_stage = #attn<scores_stage masked>}
      : (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) -> (tensor<2x1xf32>, tensor<2x2xf32>)
  return %raw, %scaled, %biased, %masked : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

// Each of 4 query heads with 2 query rows sees the one key of its group, so out
// is its value: 10 in group 0 and 20 in group 1.
// CHECK-LABEL: @groups
// CHECK-NEXT{LITERAL}: [[[[10], [10]], [[10], [10]], [[20], [20]], [[20], [20]]]]
// CHECK-NEXT{LITERAL}: [[[[10], [10], [20], [20]], [[10], [10], [20], [20]]]]
func.func @groups() -> (tensor<1x4x2x1xf32>, tensor<1x2x4x1xf32>) {
  %q = arith.constant dense<1.0> : tensor<1x4x2x1xf32>
  %k = arith.constant dense<1.0> : tensor<1x2x1x1xf32>
  %v = arith.constant dense<[[[[10.0]], [[20.0]]]]> : tensor<1x2x1x1xf32>
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<1x4x2x1xf32>, tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>) -> tensor<1x4x2x1xf32>
  %p = attn.sdpa %q, %k, %v scale 1.0 {out_layout = #attn<layout bshd>}
      : (tensor<1x4x2x1xf32>, tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x4x1xf32>
  return %o, %p : tensor<1x4x2x1xf32>, tensor<1x2x4x1xf32>
}

// Rank 3, sequence first: key j of head h is at [j, h]. Row 0 sees key 0 only,
// and row 1 weighs equal keys the same.
// CHECK-LABEL: @layouts
// CHECK-NEXT{LITERAL}: [[[1], [10]], [[2], [20]]]
// CHECK-NEXT{LITERAL}: [[[1], [2]], [[10], [20]]]
// CHECK-NEXT{LITERAL}: [[0, 0.693147181], [0, 0.693147181]]
func.func @layouts() -> (tensor<2x2x1xf64>, tensor<2x2x1xf64>, tensor<2x2xf64>) {
  %q = arith.constant dense<0.0> : tensor<2x2x1xf64>
  %v = arith.constant dense<[[[1.0], [10.0]], [[3.0], [30.0]]]> : tensor<2x2x1xf64>
  %shd = attn.sdpa %q, %q, %v scale 1.0 where causal(top_left)
      {query_layout = #attn<layout bshd>, key_layout = #attn<layout bshd>, value_layout = #attn<layout bshd>, out_layout = #attn<layout bshd>}
      : (tensor<2x2x1xf64>, tensor<2x2x1xf64>, tensor<2x2x1xf64>) -> tensor<2x2x1xf64>
  %hsd, %lse = attn.sdpa %q, %q, %v scale 1.0 where causal(top_left) returning(out, lse)
      {value_layout = #attn<layout bshd>}
      : (tensor<2x2x1xf64>, tensor<2x2x1xf64>, tensor<2x2x1xf64>) -> (tensor<2x2x1xf64>, tensor<2x2xf64>)
  return %shd, %hsd, %lse : tensor<2x2x1xf64>, tensor<2x2x1xf64>, tensor<2x2xf64>
}

// Key and value 1 hold NaN and inf. Row 0 does not see them; row 1 does.
// CHECK-LABEL: @poison
// CHECK-NEXT{LITERAL}: [[5], [nan]]
// CHECK-NEXT: [1, nan]
// CHECK-NEXT{LITERAL}: [[1, 0], [nan, nan]]
func.func @poison() -> (tensor<2x1xf32>, tensor<2xf32>, tensor<2x2xf32>) {
  %q = arith.constant dense<1.0> : tensor<2x1xf32>
  %k = arith.constant dense<[[1.0], [0x7FC00000]]> : tensor<2x1xf32>
  %v = arith.constant dense<[[5.0], [0x7F800000]]> : tensor<2x1xf32>
  %o, %l, %w = attn.sdpa %q, %k, %v scale 1.0 where causal(top_left) returning(out, lse, weights)
      : (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) -> (tensor<2x1xf32>, tensor<2xf32>, tensor<2x2xf32>)
  return %o, %l, %w : tensor<2x1xf32>, tensor<2xf32>, tensor<2x2xf32>
}

// A bias of -inf hides a NaN as well.
// CHECK-LABEL: @poison_behind_bias
// CHECK-NEXT{LITERAL}: [[5], [5]]
func.func @poison_behind_bias() -> tensor<2x1xf32> {
  %q = arith.constant dense<1.0> : tensor<2x1xf32>
  %k = arith.constant dense<[[1.0], [0x7FC00000]]> : tensor<2x1xf32>
  %v = arith.constant dense<[[5.0], [0x7F800000]]> : tensor<2x1xf32>
  %b = arith.constant dense<[0.0, 0xFF800000]> : tensor<2xf32>
  %o = attn.sdpa %q, %k, %v bias %b : tensor<2xf32> scale 1.0
      : (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  return %o : tensor<2x1xf32>
}

// Rows that see nothing: by a mask, and because there is no key at all.
// CHECK-LABEL: @empty_rows
// CHECK-NEXT{LITERAL}: [[0], [5]]
// CHECK-NEXT: [-inf, 1]
// CHECK-NEXT{LITERAL}: [[0], [1]]
// CHECK-NEXT{LITERAL}: [[0], [0]]
// CHECK-NEXT: [-inf, -inf]
// CHECK-NEXT{LITERAL}: [[], []]
func.func @empty_rows() -> (tensor<2x1xf32>, tensor<2xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2xf32>, tensor<2x?xf32>) {
  %q = arith.constant dense<1.0> : tensor<2x1xf32>
  %k = arith.constant dense<1.0> : tensor<1x1xf32>
  %v = arith.constant dense<5.0> : tensor<1x1xf32>
  %c0 = arith.constant 0 : index
  %none = tensor.empty(%c0) : tensor<?x1xf32>
  %o, %l, %w = attn.sdpa %q, %k, %v scale 1.0 where causal(bottom_right) returning(out, lse, weights)
      : (tensor<2x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>) -> (tensor<2x1xf32>, tensor<2xf32>, tensor<2x1xf32>)
  %o2, %l2, %w2 = attn.sdpa %q, %none, %none scale 1.0 returning(out, lse, weights)
      : (tensor<2x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>) -> (tensor<2x1xf32>, tensor<2xf32>, tensor<2x?xf32>)
  return %o, %l, %w, %o2, %l2, %w2 : tensor<2x1xf32>, tensor<2xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2xf32>, tensor<2x?xf32>
}

// Batch entries with lengths 1 and 2; the last query sees the last live key.
// CHECK-LABEL: @lengths
// CHECK-NEXT{LITERAL}: [[[[0], [1]]], [[[3], [5]]]]
func.func @lengths() -> tensor<2x1x2x1xf32> {
  %q = arith.constant dense<0.0> : tensor<2x1x2x1xf32>
  %v = arith.constant dense<[[[[1.0], [2.0]]], [[[3.0], [7.0]]]]> : tensor<2x1x2x1xf32>
  %len = arith.constant dense<[1, 2]> : tensor<2xi32>
  %o = attn.sdpa %q, %q, %v scale 1.0 where key_length(%len : tensor<2xi32>) and causal(bottom_right)
      : (tensor<2x1x2x1xf32>, tensor<2x1x2x1xf32>, tensor<2x1x2x1xf32>) -> tensor<2x1x2x1xf32>
  return %o : tensor<2x1x2x1xf32>
}

// The chain of textbook steps means the same.
// CHECK-LABEL: @chain
// CHECK-NEXT{LITERAL}: [[4], [3.30270973]]
// CHECK-NEXT{LITERAL}: [[4], [3.30270973]]
func.func @chain() -> (tensor<2x1xf64>, tensor<2x1xf64>) {
  %q = arith.constant dense<[[0.5], [-0.75]]> : tensor<2x1xf64>
  %k = arith.constant dense<[[1.0], [2.0]]> : tensor<2x1xf64>
  %v = arith.constant dense<[[4.0], [2.0]]> : tensor<2x1xf64>
  %b = arith.constant dense<[[1.0], [3.0]]> : tensor<2x1xf64>
  %s = attn.scores %q, %k : (tensor<2x1xf64>, tensor<2x1xf64>) -> tensor<2x2xf64>
  %c = attn.scale %s by 0.83333333333333333 : tensor<2x2xf64>
  %d = attn.bias %c, %b : tensor<2x2xf64>, tensor<2x1xf64>
  %m = attn.mask %d where causal(top_left) : tensor<2x2xf64>
  %w = attn.softmax %m : tensor<2x2xf64>
  %o = attn.context %w, %v : (tensor<2x2xf64>, tensor<2x1xf64>) -> tensor<2x1xf64>
  %p = attn.sdpa %q, %k, %v bias %b : tensor<2x1xf64> scale 0.83333333333333333 where causal(top_left)
      : (tensor<2x1xf64>, tensor<2x1xf64>, tensor<2x1xf64>) -> tensor<2x1xf64>
  return %o, %p : tensor<2x1xf64>, tensor<2x1xf64>
}
