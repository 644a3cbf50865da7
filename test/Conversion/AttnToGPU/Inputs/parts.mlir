// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Features in parts, whose sums are added behind: with a bias, a residual and what else follows.
func.func @ended(%x: tensor<?x2048xbf16>, %w: tensor<2048x24xbf16>, %b: tensor<24xbf16>, %r: tensor<?x24xbf16>) -> tensor<?x24xbf16> {
  %0 = attn.project %x, %w, %b : (tensor<?x2048xbf16>, tensor<2048x24xbf16>, tensor<24xbf16>) -> tensor<?x24xbf16>
  %t = math.tanh %0 : tensor<?x24xbf16>
  %y = arith.addf %t, %r : tensor<?x24xbf16>
  return %y : tensor<?x24xbf16>
}

func.func @entries(%x: tensor<2x?x2048xf16>, %w: tensor<16x2048xf16>, %b: tensor<16xf32>) -> tensor<2x?x16xf16> {
  %0 = attn.project %x, %w transposed, %b : (tensor<2x?x2048xf16>, tensor<16x2048xf16>, tensor<16xf32>) -> tensor<2x?x16xf16>
  return %0 : tensor<2x?x16xf16>
}

func.func @weights(%x: tensor<2x3x2048xbf16>, %w: tensor<2x2048x16xbf16>) -> tensor<2x3x16xbf16> {
  %0 = attn.project %x, %w : (tensor<2x3x2048xbf16>, tensor<2x2048x16xbf16>) -> tensor<2x3x16xbf16>
  return %0 : tensor<2x3x16xbf16>
}

// Batch entries of one row are the rows.
func.func @joined(%x: tensor<9x1x2048xf16>, %w: tensor<2048x16xf16>, %r: tensor<9x1x16xf16>) -> tensor<9x1x16xf16> {
  %0 = attn.project %x, %w : (tensor<9x1x2048xf16>, tensor<2048x16xf16>) -> tensor<9x1x16xf16>
  %y = arith.addf %r, %0 : tensor<9x1x16xf16>
  return %y : tensor<9x1x16xf16>
}

// Known rows, with a result of its own and a chain.
func.func @chain(%x: tensor<1x1024xf32>, %w: tensor<1024x80xf32>, %v: tensor<80x16xf32>) -> (tensor<1x16xf32>, tensor<1x80xf32>) {
  %0 = attn.project %x, %w : (tensor<1x1024xf32>, tensor<1024x80xf32>) -> tensor<1x80xf32>
  %1 = attn.project %0, %v : (tensor<1x80xf32>, tensor<80x16xf32>) -> tensor<1x16xf32>
  return %1, %0 : tensor<1x16xf32>, tensor<1x80xf32>
}
