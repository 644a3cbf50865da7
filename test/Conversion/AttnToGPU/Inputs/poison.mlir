// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers that are not finite in values reach the rows that see them, and no other.

// poison: %v 20 3 nan, %v 40 3 inf, %v 50 3 -inf, %v 45 7 -inf, %v 64 1 inf
// sizes: 70,70
func.func @causal(%q: tensor<1x1x?x64xbf16>, %k: tensor<1x1x?x64xbf16>, %v: tensor<1x1x?x64xbf16>) -> (tensor<1x1x?x64xbf16>, tensor<1x1x?xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.125 where causal(top_left) returning(out, lse) : (tensor<1x1x?x64xbf16>, tensor<1x1x?x64xbf16>, tensor<1x1x?x64xbf16>) -> (tensor<1x1x?x64xbf16>, tensor<1x1x?xf32>)
  return %out, %lse : tensor<1x1x?x64xbf16>, tensor<1x1x?xf32>
}

// poison: %v 20 3 nan, %v 40 3 inf, %v 50 4 -inf, %v 45 7 -inf, %v 47 7 inf
// sizes: 60,60
func.func @f32(%q: tensor<1x1x?x32xf32>, %k: tensor<1x1x?x32xf32>, %v: tensor<1x1x?x32xf32>) -> tensor<1x1x?x32xf32> {
  %out = attn.sdpa %q, %k, %v scale 0.125 where causal(top_left) : (tensor<1x1x?x32xf32>, tensor<1x1x?x32xf32>, tensor<1x1x?x32xf32>) -> tensor<1x1x?x32xf32>
  return %out : tensor<1x1x?x32xf32>
}

// Keys that nobody sees, and a query.
// poison: %k 55 2 nan, %v 55 2 nan, %v 56 0 inf, %k 57 1 -inf, %q 3 3 nan
// sizes: 20,60
func.func @lengths(%q: tensor<1x1x?x16xf16>, %k: tensor<1x1x?x16xf16>, %v: tensor<1x1x?x16xf16>, %m: tensor<1x1x1x?xf32>) -> tensor<1x1x?x16xf16> {
  %out = attn.sdpa %q, %k, %v bias %m : tensor<1x1x1x?xf32> scale 0.3 where window(left = 70, right = 34) : (tensor<1x1x?x16xf16>, tensor<1x1x?x16xf16>, tensor<1x1x?x16xf16>) -> tensor<1x1x?x16xf16>
  return %out : tensor<1x1x?x16xf16>
}

// A bias of -inf excludes one key for all rows.
// poison: %m 0 7 -inf, %k 7 1 nan, %v 7 1 nan, %v 9 2 inf
// sizes: 20,30
func.func @bias(%q: tensor<?x16xf16>, %k: tensor<?x16xf16>, %v: tensor<?x16xf16>, %m: tensor<1x?xf32>) -> tensor<?x16xf16> {
  %out = attn.sdpa %q, %k, %v bias %m : tensor<1x?xf32> scale 0.3 : (tensor<?x16xf16>, tensor<?x16xf16>, tensor<?x16xf16>) -> tensor<?x16xf16>
  return %out : tensor<?x16xf16>
}

// poison: %v 20 3 nan, %v 25 4 inf
// sizes: 40,40
func.func @sigmoid(%q: tensor<?x16xbf16>, %k: tensor<?x16xbf16>, %v: tensor<?x16xbf16>) -> tensor<?x16xbf16> {
  %out = attn.sdpa %q, %k, %v scale 0.3 where window(left = 5, right = 5) {normalization = #attn<normalization sigmoid>} : (tensor<?x16xbf16>, tensor<?x16xbf16>, tensor<?x16xbf16>) -> tensor<?x16xbf16>
  return %out : tensor<?x16xbf16>
}

// Infinite scores of f32: a key that is -inf times a positive query is left out, and its value with it.
// poison: %q 3 2 inf, %q 5 1 -inf, %q 7 0 nan, %k 4 2 0.5, %k 9 3 inf, %v 9 1 nan, %k 12 3 -inf, %v 12 0 inf, %q 11 3 0, %q 12 3 1, %q 13 3 -1
// sizes: 20,30
func.func @infinite(%q: tensor<?x16xf32>, %k: tensor<?x16xf32>, %v: tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?xf32>, tensor<?x?xf32>) {
  %out, %lse, %scores = attn.sdpa %q, %k, %v scale 0.3 returning(out, lse, scores) {scores_stage = #attn<scores_stage scaled>} : (tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?xf32>, tensor<?x?xf32>)
  return %out, %lse, %scores : tensor<?x16xf32>, tensor<?xf32>, tensor<?x?xf32>
}

// Keys of nothing but -inf: rows whose scores all are -inf, and rows that see others as well.
// poison: %k 0 0 -inf, %k 1 0 -inf, %q 2 0 1, %q 3 0 2, %v 0 0 nan, %v 1 1 inf
// sizes: 6,3
func.func @none(%q: tensor<?x16xf32>, %k: tensor<?x16xf32>, %v: tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.3 where causal(top_left) returning(out, lse) : (tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?xf32>)
  return %out, %lse : tensor<?x16xf32>, tensor<?xf32>
}

// poison: %v 20 3 nan, %v 33 4 inf
// sizes: 33,40
func.func @state(%q: tensor<1x2x?x32xf32>, %k: tensor<1x1x?x32xf32>, %v: tensor<1x1x?x20xf32>) -> (tensor<1x2x?x20xf32>, tensor<1x2x?xf32>, tensor<1x2x?xf32>, tensor<1x2x?x20xf32>) {
  %out, %m, %l, %a = attn.sdpa %q, %k, %v scale 0.2 where causal(top_left) returning(out, state) : (tensor<1x2x?x32xf32>, tensor<1x1x?x32xf32>, tensor<1x1x?x20xf32>) -> (tensor<1x2x?x20xf32>, tensor<1x2x?xf32>, tensor<1x2x?xf32>, tensor<1x2x?x20xf32>)
  return %out, %m, %l, %a : tensor<1x2x?x20xf32>, tensor<1x2x?xf32>, tensor<1x2x?xf32>, tensor<1x2x?x20xf32>
}
