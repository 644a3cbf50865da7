// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attentions among other steps, of one program: launches in order, and buffers of the device between them.

func.func @residual(%x: tensor<?x2x?x32xbf16>) -> tensor<?x2x?x32xbf16> {
  %a = attn.sdpa %x, %x, %x scale 0.176 where causal(top_left) : (tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16>) -> tensor<?x2x?x32xbf16>
  %0 = arith.addf %a, %x : tensor<?x2x?x32xbf16>
  return %0 : tensor<?x2x?x32xbf16>
}

func.func @chained(%x: tensor<1x1x?x64xf16>) -> (tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>) {
  %a = attn.sdpa %x, %x, %x scale 0.125 : (tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>) -> tensor<1x1x?x64xf16>
  %b = attn.sdpa %a, %x, %a scale 0.125 : (tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>) -> tensor<1x1x?x64xf16>
  return %b, %a : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>
}
