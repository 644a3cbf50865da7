// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention forward: element types, head dimensions, lengths that are no multiple of a tile,
// groups of heads, layouts, ranks, and rows that see no key.

// sizes: 128,64 1,1 130,67
func.func @full64(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>) -> tensor<?x1x?x64xbf16> {
  %out = attn.sdpa %q, %k, %v scale 0.125 : (tensor<?x1x?x64xbf16>, tensor<?x1x?x64xbf16>, tensor<?x1x?x64xbf16>) -> tensor<?x1x?x64xbf16>
  return %out : tensor<?x1x?x64xbf16>
}

// sizes: 127,129 129,190
func.func @causal128(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>) -> tensor<1x1x?x128xbf16> {
  %out = attn.sdpa %q, %k, %v scale 0.09 where causal(top_left) : (tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>) -> tensor<1x1x?x128xbf16>
  return %out : tensor<1x1x?x128xbf16>
}

// sizes: 70,65
func.func @groups(%q: tensor<?x4x?x64xf16>, %k: tensor<?x2x?x64xf16>, %v: tensor<?x2x?x64xf16>) -> (tensor<?x4x?x64xf16>, tensor<?x4x?xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.125 where causal(bottom_right) returning(out, lse) : (tensor<?x4x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>) -> (tensor<?x4x?x64xf16>, tensor<?x4x?xf32>)
  return %out, %lse : tensor<?x4x?x64xf16>, tensor<?x4x?xf32>
}

// sizes: 70,30 1,300
func.func @emptyRows(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>) -> (tensor<?x1x?x64xbf16>, tensor<?x1x?xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.125 where causal(bottom_right) returning(out, lse) : (tensor<?x1x?x64xbf16>, tensor<?x1x?x64xbf16>, tensor<?x1x?x64xbf16>) -> (tensor<?x1x?x64xbf16>, tensor<?x1x?xf32>)
  return %out, %lse : tensor<?x1x?x64xbf16>, tensor<?x1x?xf32>
}

// sizes: 40,100
func.func @outF32(%q: tensor<?x1x?x64xf16>, %k: tensor<?x1x?x64xf16>, %v: tensor<?x1x?x64xf16>) -> tensor<?x1x?x64xf32> {
  %out = attn.sdpa %q, %k, %v scale 0.125 : (tensor<?x1x?x64xf16>, tensor<?x1x?x64xf16>, tensor<?x1x?x64xf16>) -> tensor<?x1x?x64xf32>
  return %out : tensor<?x1x?x64xf32>
}

// sizes: 20,50
func.func @rank2(%q: tensor<?x64xf16>, %k: tensor<?x64xf16>, %v: tensor<?x64xf16>) -> tensor<?x64xf16> {
  %out = attn.sdpa %q, %k, %v scale -0.1 : (tensor<?x64xf16>, tensor<?x64xf16>, tensor<?x64xf16>) -> tensor<?x64xf16>
  return %out : tensor<?x64xf16>
}

// sizes: 1,1
func.func @known(%q: tensor<20x64xf16>, %k: tensor<50x64xf16>, %v: tensor<50x64xf16>) -> tensor<20x64xf16> {
  %out = attn.sdpa %q, %k, %v scale 0.125 : (tensor<20x64xf16>, tensor<50x64xf16>, tensor<50x64xf16>) -> tensor<20x64xf16>
  return %out : tensor<20x64xf16>
}

// sizes: 33,70
func.func @odd40(%q: tensor<1x1x?x40xbf16>, %k: tensor<1x1x?x40xbf16>, %v: tensor<1x1x?x40xbf16>) -> tensor<1x1x?x40xbf16> {
  %out = attn.sdpa %q, %k, %v scale 0.125 : (tensor<1x1x?x40xbf16>, tensor<1x1x?x40xbf16>, tensor<1x1x?x40xbf16>) -> tensor<1x1x?x40xbf16>
  return %out : tensor<1x1x?x40xbf16>
}

// sizes: 130,33
func.func @wide256(%q: tensor<1x1x?x256xbf16>, %k: tensor<1x1x?x256xbf16>, %v: tensor<1x1x?x256xbf16>) -> tensor<1x1x?x256xbf16> {
  %out = attn.sdpa %q, %k, %v scale 0.06 where causal(top_left) : (tensor<1x1x?x256xbf16>, tensor<1x1x?x256xbf16>, tensor<1x1x?x256xbf16>) -> tensor<1x1x?x256xbf16>
  return %out : tensor<1x1x?x256xbf16>
}

// sizes: 40,80
func.func @wide192(%q: tensor<1x1x?x192xf16>, %k: tensor<1x1x?x192xf16>, %v: tensor<1x1x?x128xf16>) -> tensor<1x1x?x128xf16> {
  %out = attn.sdpa %q, %k, %v scale 0.07 : (tensor<1x1x?x192xf16>, tensor<1x1x?x192xf16>, tensor<1x1x?x128xf16>) -> tensor<1x1x?x128xf16>
  return %out : tensor<1x1x?x128xf16>
}

// sizes: 66,70
func.func @shd(%q: tensor<1x?x2x64xbf16>, %k: tensor<1x?x2x64xbf16>, %v: tensor<1x?x2x64xbf16>) -> tensor<1x?x2x64xbf16> {
  %out = attn.sdpa %q, %k, %v scale 0.125 where window(left = 20, right = 0) {query_layout = #attn<layout bshd>, key_layout = #attn<layout bshd>, value_layout = #attn<layout bshd>, out_layout = #attn<layout bshd>} : (tensor<1x?x2x64xbf16>, tensor<1x?x2x64xbf16>, tensor<1x?x2x64xbf16>) -> tensor<1x?x2x64xbf16>
  return %out : tensor<1x?x2x64xbf16>
}

// Lengths that the specification tells.
func.func @told(%q: tensor<1x2x128x128xbf16>, %k: tensor<1x2x160x128xbf16>, %v: tensor<1x2x160x128xbf16>) -> tensor<1x2x128x128xbf16> {
  %out = attn.sdpa %q, %k, %v scale 0.09 : (tensor<1x2x128x128xbf16>, tensor<1x2x160x128xbf16>, tensor<1x2x160x128xbf16>) -> tensor<1x2x128x128xbf16>
  return %out : tensor<1x2x128x128xbf16>
}

// sizes: 40,70 1,300
func.func @unknownHeads(%q: tensor<?x?x64xf16>, %k: tensor<?x?x64xf16>, %v: tensor<?x?x64xf16>) -> tensor<?x?x64xf16> {
  %out = attn.sdpa %q, %k, %v scale 0.125 where causal(bottom_right) : (tensor<?x?x64xf16>, tensor<?x?x64xf16>, tensor<?x?x64xf16>) -> tensor<?x?x64xf16>
  return %out : tensor<?x?x64xf16>
}
