// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attentions whose tiles for sm_90 are not those of sm_80: 96 keys of 64 features, 48 of 128, 64 queries of 256.

// batch: 1
// sizes: 129,97
func.func @keys96(%q: tensor<?x1x?x64xf16>, %k: tensor<?x1x?x64xf16>, %v: tensor<?x1x?x64xf16>) -> tensor<?x1x?x64xf16> {
  %out = attn.sdpa %q, %k, %v scale 0.125 where causal(bottom_right) : (tensor<?x1x?x64xf16>, tensor<?x1x?x64xf16>, tensor<?x1x?x64xf16>) -> tensor<?x1x?x64xf16>
  return %out : tensor<?x1x?x64xf16>
}

// batch: 1
// sizes: 129,97 20,48
func.func @keys48(%q: tensor<?x2x?x128xbf16>, %k: tensor<?x1x?x128xbf16>, %v: tensor<?x1x?x128xbf16>) -> (tensor<?x2x?x128xbf16>, tensor<?x2x?xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.09 score_mod (%s: f32, %b, %h, %i, %j) {
    %cap = arith.constant 30.0 : f32
    %x = arith.divf %s, %cap : f32
    %t = math.tanh %x : f32
    %y = arith.mulf %t, %cap : f32
    attn.yield %y : f32
  } where window(left = 50, right = 9) returning(out, lse) : (tensor<?x2x?x128xbf16>, tensor<?x1x?x128xbf16>, tensor<?x1x?x128xbf16>) -> (tensor<?x2x?x128xbf16>, tensor<?x2x?xf32>)
  return %out, %lse : tensor<?x2x?x128xbf16>, tensor<?x2x?xf32>
}

// batch: 1
// sizes: 65,130
func.func @queries64(%q: tensor<?x1x?x256xbf16>, %k: tensor<?x1x?x256xbf16>, %v: tensor<?x1x?x256xbf16>) -> tensor<?x1x?x256xbf16> {
  %out = attn.sdpa %q, %k, %v scale 0.06 where causal(top_left) : (tensor<?x1x?x256xbf16>, tensor<?x1x?x256xbf16>, tensor<?x1x?x256xbf16>) -> tensor<?x1x?x256xbf16>
  return %out : tensor<?x1x?x256xbf16>
}

// Rows of few units, of which threads copy 32 or 64 at once: half of them have none in the last turn.
// batch: 1
// sizes: 64,64 70,130
func.func @part_of_threads(%q: tensor<?x2x?x80xbf16>, %k: tensor<?x1x?x80xbf16>, %v: tensor<?x1x?x24xbf16>) -> tensor<?x2x?x24xbf16> {
  %out = attn.sdpa %q, %k, %v scale 0.2 where window(left = 40, right = 3) : (tensor<?x2x?x80xbf16>, tensor<?x1x?x80xbf16>, tensor<?x1x?x24xbf16>) -> tensor<?x2x?x24xbf16>
  return %out : tensor<?x2x?x24xbf16>
}

// batch: 1
// sizes: 70,130
func.func @narrow_rows(%q: tensor<?x1x?x16xf16>, %k: tensor<?x1x?x16xf16>, %v: tensor<?x1x?x48xf16>) -> tensor<?x1x?x48xf16> {
  %out = attn.sdpa %q, %k, %v scale 0.2 where causal(bottom_right) : (tensor<?x1x?x16xf16>, tensor<?x1x?x16xf16>, tensor<?x1x?x48xf16>) -> tensor<?x1x?x48xf16>
  return %out : tensor<?x1x?x48xf16>
}
