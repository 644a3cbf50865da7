// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every synchronisation of this kernel is needed: tiles between the first keys and a query's chunk are left out, and
// the next one is of either kind; keys behind the last ones of a block are on their way when it ends; and the
// result takes the memory of all buffers.
func.func @synchronised(%q: tensor<1x1x?x64xf16>, %k: tensor<1x1x?x64xf16>, %v: tensor<1x1x?x64xf16>) -> tensor<1x1x?x64xf32> {
  %out = attn.sdpa %q, %k, %v scale 0.125 where causal(top_left) and (sink(64) or chunked(256))
      : (tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>) -> tensor<1x1x?x64xf32>
  return %out : tensor<1x1x?x64xf32>
}

func.func @synchronised128(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>) -> tensor<1x1x?x128xbf16> {
  %out = attn.sdpa %q, %k, %v scale 0.1 where causal(top_left) and (sink(64) or chunked(256))
      : (tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>) -> tensor<1x1x?x128xbf16>
  return %out : tensor<1x1x?x128xbf16>
}

func.func @synchronised256(%q: tensor<1x1x?x256xbf16>, %k: tensor<1x1x?x256xbf16>, %v: tensor<1x1x?x256xbf16>) -> tensor<1x1x?x256xf32> {
  %out = attn.sdpa %q, %k, %v scale 0.06 where causal(top_left) and (sink(64) or chunked(256))
      : (tensor<1x1x?x256xbf16>, tensor<1x1x?x256xbf16>, tensor<1x1x?x256xbf16>) -> tensor<1x1x?x256xf32>
  return %out : tensor<1x1x?x256xf32>
}
