// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows that do not begin at multiples of 16 bytes are copied element by element.
// sizes: 33,70
func.func @odd33(%q: tensor<1x1x?x33xf16>, %k: tensor<1x1x?x33xf16>, %v: tensor<1x1x?x72xf16>) -> tensor<1x1x?x72xf16> {
  %out = attn.sdpa %q, %k, %v scale 0.125 where causal(top_left) : (tensor<1x1x?x33xf16>, tensor<1x1x?x33xf16>, tensor<1x1x?x72xf16>) -> tensor<1x1x?x72xf16>
  return %out : tensor<1x1x?x72xf16>
}
