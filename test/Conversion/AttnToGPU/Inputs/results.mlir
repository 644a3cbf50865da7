// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention of f32, weights, scores and states as results, and weights by sigmoid.

// sizes: 40,100 1,1 130,65
func.func @f32(%q: tensor<?x1x?x64xf32>, %k: tensor<?x1x?x64xf32>, %v: tensor<?x1x?x64xf32>) -> (tensor<?x1x?x64xf32>, tensor<?x1x?xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.125 where causal(bottom_right) returning(out, lse) : (tensor<?x1x?x64xf32>, tensor<?x1x?x64xf32>, tensor<?x1x?x64xf32>) -> (tensor<?x1x?x64xf32>, tensor<?x1x?xf32>)
  return %out, %lse : tensor<?x1x?x64xf32>, tensor<?x1x?xf32>
}

// sizes: 33,70
func.func @f32odd(%q: tensor<1x2x?x37xf32>, %k: tensor<1x1x?x37xf32>, %v: tensor<1x1x?x5xf32>) -> tensor<1x2x?x5xf32> {
  %out = attn.sdpa %q, %k, %v scale 0.2 where window(left = 20, right = 3) : (tensor<1x2x?x37xf32>, tensor<1x1x?x37xf32>, tensor<1x1x?x5xf32>) -> tensor<1x2x?x5xf32>
  return %out : tensor<1x2x?x5xf32>
}

// sizes: 66,35
func.func @f32wide(%q: tensor<?x256xf32>, %k: tensor<?x256xf32>, %v: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %out = attn.sdpa %q, %k, %v scale 0.06 : (tensor<?x256xf32>, tensor<?x256xf32>, tensor<?x256xf32>) -> tensor<?x256xf32>
  return %out : tensor<?x256xf32>
}

// sizes: 5,20
func.func @f32wider(%q: tensor<?x576xf32>, %k: tensor<?x576xf32>, %v: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %out = attn.sdpa %q, %k, %v scale 0.04 : (tensor<?x576xf32>, tensor<?x576xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  return %out : tensor<?x64xf32>
}

// sizes: 3,40
func.func @wider(%q: tensor<?x640xbf16>, %k: tensor<?x640xbf16>, %v: tensor<?x256xbf16>) -> tensor<?x256xbf16> {
  %out = attn.sdpa %q, %k, %v scale 0.04 : (tensor<?x640xbf16>, tensor<?x640xbf16>, tensor<?x256xbf16>) -> tensor<?x256xbf16>
  return %out : tensor<?x256xbf16>
}

// Of 16 rows some threads of a warp have one behind the last: it meets again in front of the next keys.
// sizes: 9,65 25,70
func.func @rowsApart(%q: tensor<?x16xf32>, %k: tensor<?x16xf32>, %v: tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?x?xf32>) {
  %out, %w = attn.sdpa %q, %k, %v scale 0.2 where causal(bottom_right) returning(out, weights) : (tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?x?xf32>)
  return %out, %w : tensor<?x16xf32>, tensor<?x?xf32>
}

// sizes: 25,70
func.func @rowsApartMasked(%q: tensor<?x16xf16>, %k: tensor<?x16xf16>, %v: tensor<?x16xf16>, %m: tensor<?x?xi1>) -> (tensor<?x16xf16>, tensor<?x?xf32>) {
  %out, %w = attn.sdpa %q, %k, %v scale 0.2 where %m : tensor<?x?xi1> returning(out, weights) : (tensor<?x16xf16>, tensor<?x16xf16>, tensor<?x16xf16>) -> (tensor<?x16xf16>, tensor<?x?xf32>)
  return %out, %w : tensor<?x16xf16>, tensor<?x?xf32>
}

// sizes: 70,65 1,1
func.func @weights(%q: tensor<1x2x?x32xf16>, %k: tensor<1x1x?x32xf16>, %v: tensor<1x1x?x32xf16>) -> (tensor<1x2x?x32xf16>, tensor<1x2x?x?xf32>) {
  %out, %w = attn.sdpa %q, %k, %v scale 0.2 where causal(bottom_right) returning(out, weights) : (tensor<1x2x?x32xf16>, tensor<1x1x?x32xf16>, tensor<1x1x?x32xf16>) -> (tensor<1x2x?x32xf16>, tensor<1x2x?x?xf32>)
  return %out, %w : tensor<1x2x?x32xf16>, tensor<1x2x?x?xf32>
}

// sizes: 20,70
func.func @masked(%q: tensor<1x1x?x16xf32>, %k: tensor<1x1x?x16xf32>, %v: tensor<1x1x?x16xf32>, %bias: tensor<1x1x?x?xf32>) -> (tensor<1x1x?x16xf32>, tensor<1x1x?xf32>, tensor<1x1x?x?xf32>, tensor<1x1x?x?xf32>) {
  %out, %lse, %w, %s = attn.sdpa %q, %k, %v bias %bias : tensor<1x1x?x?xf32> scale 0.25 where window(left = 9, right = 9) returning(out, lse, weights, scores) {scores_stage = #attn<scores_stage masked>} : (tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>) -> (tensor<1x1x?x16xf32>, tensor<1x1x?xf32>, tensor<1x1x?x?xf32>, tensor<1x1x?x?xf32>)
  return %out, %lse, %w, %s : tensor<1x1x?x16xf32>, tensor<1x1x?xf32>, tensor<1x1x?x?xf32>, tensor<1x1x?x?xf32>
}

// sizes: 20,70
func.func @raw(%q: tensor<?x16xf32>, %k: tensor<?x16xf32>, %v: tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?x?xf32>) {
  %out, %s = attn.sdpa %q, %k, %v scale 0.25 returning(out, scores) {scores_stage = #attn<scores_stage raw>} : (tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?x?xf32>)
  return %out, %s : tensor<?x16xf32>, tensor<?x?xf32>
}

// sizes: 70,65 1,3
func.func @state(%q: tensor<1x2x?x32xf32>, %k: tensor<1x1x?x32xf32>, %v: tensor<1x1x?x32xf32>) -> (tensor<1x2x?x32xf32>, tensor<1x2x?xf32>, tensor<1x2x?xf32>, tensor<1x2x?x32xf32>) {
  %out, %m, %l, %a = attn.sdpa %q, %k, %v scale 0.2 where causal(bottom_right) returning(out, state) : (tensor<1x2x?x32xf32>, tensor<1x1x?x32xf32>, tensor<1x1x?x32xf32>) -> (tensor<1x2x?x32xf32>, tensor<1x2x?xf32>, tensor<1x2x?xf32>, tensor<1x2x?x32xf32>)
  return %out, %m, %l, %a : tensor<1x2x?x32xf32>, tensor<1x2x?xf32>, tensor<1x2x?xf32>, tensor<1x2x?x32xf32>
}

// sizes: 70,65 3,1
func.func @sigmoid(%q: tensor<1x2x?x64xbf16>, %k: tensor<1x1x?x64xbf16>, %v: tensor<1x1x?x64xbf16>, %bias: tensor<2x1x1xf32>) -> (tensor<1x2x?x64xbf16>, tensor<1x2x?x?xf32>) {
  %out, %w = attn.sdpa %q, %k, %v bias %bias : tensor<2x1x1xf32> scale 0.125 where causal(top_left) returning(out, weights) {normalization = #attn<normalization sigmoid>} : (tensor<1x2x?x64xbf16>, tensor<1x1x?x64xbf16>, tensor<1x1x?x64xbf16>) -> (tensor<1x2x?x64xbf16>, tensor<1x2x?x?xf32>)
  return %out, %w : tensor<1x2x?x64xbf16>, tensor<1x2x?x?xf32>
}

// sizes: 40,30
func.func @sigmoidNegative(%q: tensor<?x24xf32>, %k: tensor<?x24xf32>, %v: tensor<?x24xf32>) -> tensor<?x24xf32> {
  %out = attn.sdpa %q, %k, %v scale -0.2 {normalization = #attn<normalization sigmoid>} : (tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32>) -> tensor<?x24xf32>
  return %out : tensor<?x24xf32>
}
