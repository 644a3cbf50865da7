// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels whose machine code gates.py looks at. `slots`: instructions that a warp issues in a turn of the loop
// without a mask; a tenth more is a regression. `share`: of the tensor cores' peak that a turn can reach.

// slots: 701, share: 0.85
func.func @full64(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x8x?x64xbf16>, %v: tensor<?x8x?x64xbf16>) -> tensor<?x8x?x64xbf16> {
  %out = attn.sdpa %q, %k, %v scale 0.125 : (tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>) -> tensor<?x8x?x64xbf16>
  return %out : tensor<?x8x?x64xbf16>
}

// slots: 518, share: 0.85
func.func @causal128(%q: tensor<?x8x?x128xbf16>, %k: tensor<?x8x?x128xbf16>, %v: tensor<?x8x?x128xbf16>) -> (tensor<?x8x?x128xbf16>, tensor<?x8x?xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.09 where causal(top_left) returning(out, lse) : (tensor<?x8x?x128xbf16>, tensor<?x8x?x128xbf16>, tensor<?x8x?x128xbf16>) -> (tensor<?x8x?x128xbf16>, tensor<?x8x?xf32>)
  return %out, %lse : tensor<?x8x?x128xbf16>, tensor<?x8x?xf32>
}

// slots: 538, share: 0.85
func.func @full128(%q: tensor<?x8x?x128xf16>, %k: tensor<?x8x?x128xf16>, %v: tensor<?x8x?x128xf16>) -> tensor<?x8x?x128xf16> {
  %out = attn.sdpa %q, %k, %v scale 0.09 : (tensor<?x8x?x128xf16>, tensor<?x8x?x128xf16>, tensor<?x8x?x128xf16>) -> tensor<?x8x?x128xf16>
  return %out : tensor<?x8x?x128xf16>
}

// slots: 752, share: 0.75
func.func @causal256(%q: tensor<?x8x?x256xbf16>, %k: tensor<?x8x?x256xbf16>, %v: tensor<?x8x?x256xbf16>) -> tensor<?x8x?x256xbf16> {
  %out = attn.sdpa %q, %k, %v scale 0.06 where causal(top_left) : (tensor<?x8x?x256xbf16>, tensor<?x8x?x256xbf16>, tensor<?x8x?x256xbf16>) -> tensor<?x8x?x256xbf16>
  return %out : tensor<?x8x?x256xbf16>
}
