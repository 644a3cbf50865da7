// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dropout of weights: which pair of which head of which batch entry it is, in tiles that are ragged, of a group of heads, behind a window
// that begins within a tile and within four keys, and without sums of rows; a negative seed drops nothing.

// sizes: 70,130 1,3
func.func @window(%q: tensor<?x4x?x64xf16>, %k: tensor<?x2x?x64xf16>, %v: tensor<?x2x?x64xf16>, %seed: tensor<i64>) -> (tensor<?x4x?x64xf16>, tensor<?x4x?xf32>) attributes {attn.dropout} {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.125 where window(left = 30, right = 9) dropout 0.3 seed %seed : tensor<i64> returning(out, lse) : (tensor<?x4x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>) -> (tensor<?x4x?x64xf16>, tensor<?x4x?xf32>)
  return %out, %lse : tensor<?x4x?x64xf16>, tensor<?x4x?xf32>
}

// sizes: 33,67
func.func @weights(%q: tensor<1x2x?x16xf32>, %k: tensor<1x2x?x16xf32>, %v: tensor<1x2x?x24xf32>, %seed: tensor<i64>) -> (tensor<1x2x?x24xf32>, tensor<1x2x?x?xf32>) attributes {attn.dropout} {
  %out, %weights = attn.sdpa %q, %k, %v scale 0.5 where causal(bottom_right) dropout 0.5 seed %seed : tensor<i64> returning(out, weights) : (tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x24xf32>) -> (tensor<1x2x?x24xf32>, tensor<1x2x?x?xf32>)
  return %out, %weights : tensor<1x2x?x24xf32>, tensor<1x2x?x?xf32>
}

// sizes: 20,40
func.func @sigmoid(%q: tensor<?x40xbf16>, %k: tensor<?x40xbf16>, %v: tensor<?x40xbf16>, %seed: tensor<i64>) -> tensor<?x40xbf16> attributes {attn.dropout} {
  %out = attn.sdpa %q, %k, %v scale 0.1 dropout 0.1 seed %seed : tensor<i64> {normalization = #attn<normalization sigmoid>} : (tensor<?x40xbf16>, tensor<?x40xbf16>, tensor<?x40xbf16>) -> tensor<?x40xbf16>
  return %out : tensor<?x40xbf16>
}

// sizes: 17,33
func.func @off(%q: tensor<?x32xf32>, %k: tensor<?x32xf32>, %v: tensor<?x32xf32>) -> tensor<?x32xf32> attributes {attn.dropout} {
  %seed = arith.constant dense<-5> : tensor<i64>
  %out = attn.sdpa %q, %k, %v scale 0.2 dropout 0.9 seed %seed : tensor<i64> : (tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
  return %out : tensor<?x32xf32>
}

// sizes: 9,70
func.func @features128(%q: tensor<1x2x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>, %seed: tensor<i64>) -> tensor<1x2x?x128xbf16> attributes {attn.dropout} {
  %out = attn.sdpa %q, %k, %v scale 0.1 dropout 0.2 seed %seed : tensor<i64> : (tensor<1x2x?x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>) -> tensor<1x2x?x128xbf16>
  return %out : tensor<1x2x?x128xbf16>
}
