// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Few queries that see several parts of 64 keys. %k and what follows have the keys' length.

// sizes: 1,130 1,1
// batch: 2
func.func @gqa(%q: tensor<?x8x1x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>) -> (tensor<?x8x1x64xbf16>, tensor<?x8x1xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.2 returning(out, lse) : (tensor<?x8x1x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16>) -> (tensor<?x8x1x64xbf16>, tensor<?x8x1xf32>)
  return %out, %lse : tensor<?x8x1x64xbf16>, tensor<?x8x1xf32>
}

// Of 4200 keys, at most 64 parts: each has more.
// sizes: 1,150 1,4200
// batch: 1
func.func @single(%q: tensor<1x1x32xf32>, %k: tensor<1x?x32xf32>, %v: tensor<1x?x20xf32>) -> (tensor<1x1x20xf32>, tensor<1x1xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.2 returning(out, lse) : (tensor<1x1x32xf32>, tensor<1x?x32xf32>, tensor<1x?x20xf32>) -> (tensor<1x1x20xf32>, tensor<1x1xf32>)
  return %out, %lse : tensor<1x1x20xf32>, tensor<1x1xf32>
}

// sizes: 4,195 4,2
// batch: 1
func.func @speculative(%q: tensor<?x8x4x128xbf16>, %k: tensor<?x2x?x128xbf16>, %v: tensor<?x2x?x128xbf16>) -> (tensor<?x8x4x128xbf16>, tensor<?x8x4xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.2 where causal(bottom_right) returning(out, lse) : (tensor<?x8x4x128xbf16>, tensor<?x2x?x128xbf16>, tensor<?x2x?x128xbf16>) -> (tensor<?x8x4x128xbf16>, tensor<?x8x4xf32>)
  return %out, %lse : tensor<?x8x4x128xbf16>, tensor<?x8x4xf32>
}

// sizes: 7,150 17,150 0,100 3,0
// batch: 1
func.func @any(%q: tensor<?x4x?x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>) -> (tensor<?x4x?x32xf16>, tensor<?x4x?xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.2 where causal(bottom_right) returning(out, lse) : (tensor<?x4x?x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> (tensor<?x4x?x32xf16>, tensor<?x4x?xf32>)
  return %out, %lse : tensor<?x4x?x32xf16>, tensor<?x4x?xf32>
}

// poison: %v 0 1 nan, %v 0 2 inf, %v 140 3 nan
// sizes: 3,150
// batch: 1
func.func @empty(%q: tensor<?x4x3x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>) -> (tensor<?x4x3x32xf16>, tensor<?x4x3xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.2 where causal(offset = -2) returning(out, lse) : (tensor<?x4x3x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> (tensor<?x4x3x32xf16>, tensor<?x4x3xf32>)
  return %out, %lse : tensor<?x4x3x32xf16>, tensor<?x4x3xf32>
}

// Rows of a block see different keys: what is not finite in one reaches those that see it.
// poison: %v 197 3 nan, %k 198 2 nan, %v 199 0 -inf, %v 196 0 inf
// sizes: 5,200
// batch: 1
func.func @window(%q: tensor<?x4x5x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>) -> tensor<?x4x5x32xf16> {
  %out = attn.sdpa %q, %k, %v scale 0.2 where causal(bottom_right) and (sink(4) or window(left = 70, right = 0)) : (tensor<?x4x5x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> tensor<?x4x5x32xf16>
  return %out : tensor<?x4x5x32xf16>
}

// sizes: 2,150
// batch: 1
func.func @keyLength(%q: tensor<?x4x2x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>, %n: tensor<1xi32>) -> tensor<?x4x2x32xf16> {
  %out = attn.sdpa %q, %k, %v scale 0.2 where key_length(%n : tensor<1xi32>) : (tensor<?x4x2x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> tensor<?x4x2x32xf16>
  return %out : tensor<?x4x2x32xf16>
}

// sizes: 2,150
// batch: 1
func.func @allowed(%q: tensor<?x4x2x32xf16>, %k: tensor<?x2x150x32xf16>, %v: tensor<?x2x150x32xf16>, %m: tensor<2x150xi1>, %b: tensor<150xf32>) -> tensor<?x4x2x32xf16> {
  %out = attn.sdpa %q, %k, %v bias %b : tensor<150xf32> scale 0.2 where dilated(3) and %m : tensor<2x150xi1> : (tensor<?x4x2x32xf16>, tensor<?x2x150x32xf16>, tensor<?x2x150x32xf16>) -> tensor<?x4x2x32xf16>
  return %out : tensor<?x4x2x32xf16>
}

// sizes: 2,150
// batch: 1
func.func @ofHead(%q: tensor<?x4x2x32xf16>, %k: tensor<?x2x150x32xf16>, %v: tensor<?x2x150x32xf16>, %m: tensor<4x2x150xi1>, %b: tensor<4x1x150xf32>) -> tensor<?x4x2x32xf16> {
  %out = attn.sdpa %q, %k, %v bias %b : tensor<4x1x150xf32> scale 0.2 where %m : tensor<4x2x150xi1> : (tensor<?x4x2x32xf16>, tensor<?x2x150x32xf16>, tensor<?x2x150x32xf16>) -> tensor<?x4x2x32xf16>
  return %out : tensor<?x4x2x32xf16>
}

// sizes: 3,150
// batch: 1
func.func @function(%q: tensor<?x4x3x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>, %c: tensor<4x3xf32>) -> tensor<?x4x3x32xf16> {
  %out = attn.sdpa %q, %k, %v scale 0.2 score_mod (%s: f32, %b, %h, %i, %j) with (%t = %c : tensor<4x3xf32>) {
    %x = tensor.extract %t[%h, %i] : tensor<4x3xf32>
    %jj = arith.index_cast %j : index to i32
    %g = arith.sitofp %jj : i32 to f32
    %hundredth = arith.constant 0.01 : f32
    %g1 = arith.mulf %g, %hundredth : f32
    %e = arith.mulf %g1, %x : f32
    %s2 = arith.addf %s, %e : f32
    attn.yield %s2 : f32
  } : (tensor<?x4x3x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> tensor<?x4x3x32xf16>
  return %out : tensor<?x4x3x32xf16>
}

// sizes: 2,150 2,0
// batch: 1
func.func @sinks(%q: tensor<?x4x2x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>, %s: tensor<4xf32>) -> (tensor<?x4x2x32xf16>, tensor<?x4x2xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.2 sinks %s : tensor<4xf32> returning(out, lse) : (tensor<?x4x2x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> (tensor<?x4x2x32xf16>, tensor<?x4x2xf32>)
  return %out, %lse : tensor<?x4x2x32xf16>, tensor<?x4x2xf32>
}

// poison: %v 149 3 nan, %v 149 4 -inf
// sizes: 2,150
// batch: 1
func.func @state(%q: tensor<?x4x2x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>) -> (tensor<?x4x2x32xf16>, tensor<?x4x2xf32>, tensor<?x4x2xf32>, tensor<?x4x2xf32>, tensor<?x4x2x32xf32>) {
  %out, %lse, %m, %l, %acc = attn.sdpa %q, %k, %v scale 0.2 where causal(bottom_right) returning(out, lse, state) : (tensor<?x4x2x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> (tensor<?x4x2x32xf16>, tensor<?x4x2xf32>, tensor<?x4x2xf32>, tensor<?x4x2xf32>, tensor<?x4x2x32xf32>)
  return %out, %lse, %m, %l, %acc : tensor<?x4x2x32xf16>, tensor<?x4x2xf32>, tensor<?x4x2xf32>, tensor<?x4x2xf32>, tensor<?x4x2x32xf32>
}

// sizes: 2,150
// batch: 1
func.func @layout(%q: tensor<?x2x4x36xf16>, %k: tensor<?x?x2x36xf16>, %v: tensor<?x?x2x36xf16>) -> tensor<?x2x4x36xf16> {
  %out = attn.sdpa %q, %k, %v scale 0.2 {query_layout = #attn<layout bshd>, key_layout = #attn<layout bshd>, value_layout = #attn<layout bshd>, out_layout = #attn<layout bshd>} : (tensor<?x2x4x36xf16>, tensor<?x?x2x36xf16>, tensor<?x?x2x36xf16>) -> tensor<?x2x4x36xf16>
  return %out : tensor<?x2x4x36xf16>
}

// sizes: 3,150
// batch: 1
func.func @unaligned(%q: tensor<6x3x33xf16>, %k: tensor<2x?x33xf16>, %v: tensor<2x?x7xf16>) -> tensor<6x3x7xf16> {
  %out = attn.sdpa %q, %k, %v scale 0.2 : (tensor<6x3x33xf16>, tensor<2x?x33xf16>, tensor<2x?x7xf16>) -> tensor<6x3x7xf16>
  return %out : tensor<6x3x7xf16>
}

// sizes: 1,70
// batch: 1
func.func @latent(%q: tensor<?x128x1x576xbf16>, %k: tensor<?x1x?x576xbf16>, %v: tensor<?x1x?x256xbf16>) -> tensor<?x128x1x256xbf16> {
  %out = attn.sdpa %q, %k, %v scale 0.2 : (tensor<?x128x1x576xbf16>, tensor<?x1x?x576xbf16>, tensor<?x1x?x256xbf16>) -> tensor<?x128x1x256xbf16>
  return %out : tensor<?x128x1x256xbf16>
}

// poison: %v 7 2 nan, %v 9 0 inf, %k 12 1 nan
// sizes: 6,40
// batch: 1
func.func @documents(%q: tensor<4x6x32xf16>, %k: tensor<2x?x32xf16>, %v: tensor<2x?x32xf16>, %d: tensor<6xi32>, %e: tensor<?xi32>) -> (tensor<4x6x32xf16>, tensor<4x6xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.2 where document(%d : tensor<6xi32>, %e : tensor<?xi32>) returning(out, lse) : (tensor<4x6x32xf16>, tensor<2x?x32xf16>, tensor<2x?x32xf16>) -> (tensor<4x6x32xf16>, tensor<4x6xf32>)
  return %out, %lse : tensor<4x6x32xf16>, tensor<4x6xf32>
}
