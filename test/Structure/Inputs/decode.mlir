// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One query: of 8 or 16 heads that share 2 key heads, and of heads that share
// none.
func.func @group(%q: tensor<?x8x1x128xf32>, %k: tensor<?x2x?x128xf32>, %v: tensor<?x2x?x128xf32>) -> tensor<?x8x1x128xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.125 : (tensor<?x8x1x128xf32>, tensor<?x2x?x128xf32>, tensor<?x2x?x128xf32>) -> tensor<?x8x1x128xf32>
  return %o : tensor<?x8x1x128xf32>
}
func.func @single(%q: tensor<?x8x1x128xf32>, %k: tensor<?x8x?x128xf32>, %v: tensor<?x8x?x128xf32>) -> tensor<?x8x1x128xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.125 : (tensor<?x8x1x128xf32>, tensor<?x8x?x128xf32>, tensor<?x8x?x128xf32>) -> tensor<?x8x1x128xf32>
  return %o : tensor<?x8x1x128xf32>
}
func.func @eight(%q: tensor<?x16x1x128xf32>, %k: tensor<?x2x?x128xf32>, %v: tensor<?x2x?x128xf32>) -> tensor<?x16x1x128xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.125 : (tensor<?x16x1x128xf32>, tensor<?x2x?x128xf32>, tensor<?x2x?x128xf32>) -> tensor<?x16x1x128xf32>
  return %o : tensor<?x16x1x128xf32>
}
