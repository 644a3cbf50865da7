// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --emit=exe
!q = tensor<2x?x16xf32>
!k = tensor<2x?x16xf32>
!b = tensor<2x1x0xf32>
func.func @computed_bias(%q: !q, %k: !k, %v: !k, %a: !b, %c: !b) -> !q {
  %product = arith.mulf %a, %c : !b
  %product_more = arith.maximumf %product, %c : !b
  %bias = math.sin %product_more : !b
  %out = attn.sdpa %q, %k, %v bias %bias : !b scale 0.25 : (!q, !k, !k) -> !q
  return %out : !q
}
