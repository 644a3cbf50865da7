// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same attention, one of which learns.
func.func @plain(%q: tensor<?x2x?x64xf32>, %k: tensor<?x1x?x64xf32>, %v: tensor<?x1x?x64xf32>) -> tensor<?x2x?x64xf32> {
  %out = attn.sdpa %q, %k, %v scale 0.125 where causal(top_left)
      : (tensor<?x2x?x64xf32>, tensor<?x1x?x64xf32>, tensor<?x1x?x64xf32>) -> tensor<?x2x?x64xf32>
  return %out : tensor<?x2x?x64xf32>
}
func.func @learned(%q: tensor<?x2x?x64xf32> {attn.gradient}, %k: tensor<?x1x?x64xf32> {attn.gradient}, %v: tensor<?x1x?x64xf32> {attn.gradient}) -> tensor<?x2x?x64xf32> {
  %out = attn.sdpa %q, %k, %v scale 0.125 where causal(top_left)
      : (tensor<?x2x?x64xf32>, tensor<?x1x?x64xf32>, tensor<?x1x?x64xf32>) -> tensor<?x2x?x64xf32>
  return %out : tensor<?x2x?x64xf32>
}
