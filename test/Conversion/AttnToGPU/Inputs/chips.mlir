// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attentions whose tiles for sm_80 take more than 99 KB of shared memory.

// sizes: 65,33
func.func @f32_128(%q: tensor<?x2x?x128xf32>, %k: tensor<?x1x?x128xf32>, %v: tensor<?x1x?x128xf32>) -> tensor<?x2x?x128xf32> {
  %out = attn.sdpa %q, %k, %v scale 0.09 where causal(bottom_right) : (tensor<?x2x?x128xf32>, tensor<?x1x?x128xf32>, tensor<?x1x?x128xf32>) -> tensor<?x2x?x128xf32>
  return %out : tensor<?x2x?x128xf32>
}

// batch: 1
// sizes: 17,33
func.func @f32_640(%q: tensor<?x1x?x640xf32>, %k: tensor<?x1x?x640xf32>, %v: tensor<?x1x?x256xf32>) -> tensor<?x1x?x256xf32> {
  %out = attn.sdpa %q, %k, %v scale 0.04 : (tensor<?x1x?x640xf32>, tensor<?x1x?x640xf32>, tensor<?x1x?x256xf32>) -> tensor<?x1x?x256xf32>
  return %out : tensor<?x1x?x256xf32>
}

// batch: 1
// sizes: 65,33
func.func @bf16_256(%q: tensor<?x1x?x256xbf16>, %k: tensor<?x1x?x256xbf16>, %v: tensor<?x1x?x256xbf16>) -> tensor<?x1x?x256xbf16> {
  %out = attn.sdpa %q, %k, %v scale 0.06 where causal(bottom_right) : (tensor<?x1x?x256xbf16>, tensor<?x1x?x256xbf16>, tensor<?x1x?x256xbf16>) -> tensor<?x1x?x256xbf16>
  return %out : tensor<?x1x?x256xbf16>
}

// batch: 1
// sizes: 1,289
func.func @latent(%q: tensor<?x48x1x640xbf16>, %k: tensor<?x1x?x640xbf16>, %v: tensor<?x1x?x256xbf16>) -> tensor<?x48x1x256xbf16> {
  %out = attn.sdpa %q, %k, %v scale 0.04 : (tensor<?x48x1x640xbf16>, tensor<?x1x?x640xbf16>, tensor<?x1x?x256xbf16>) -> tensor<?x48x1x256xbf16>
  return %out : tensor<?x48x1x256xbf16>
}
