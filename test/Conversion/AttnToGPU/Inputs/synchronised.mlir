// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every synchronisation of this kernel is needed: tiles between the first keys and the window are left out, keys
// behind the last ones of a block are on their way when it ends, and the result takes the memory of all buffers.
func.func @synchronised(%q: tensor<1x1x?x64xf16>, %k: tensor<1x1x?x64xf16>, %v: tensor<1x1x?x64xf16>) -> tensor<1x1x?x64xf32> {
  %out = attn.sdpa %q, %k, %v scale 0.125 where causal(top_left) and (sink(4) or window(left = 200, right = 0))
      : (tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>) -> tensor<1x1x?x64xf32>
  return %out : tensor<1x1x?x64xf32>
}
