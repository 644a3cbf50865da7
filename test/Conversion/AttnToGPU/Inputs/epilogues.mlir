// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is computed from a product's sums before they are written.

// A residual, in the type of the product.
func.func @residual(%x: tensor<?x48xbf16>, %w: tensor<48x40xbf16>, %b: tensor<40xbf16>, %r: tensor<?x40xbf16>) -> tensor<?x40xbf16> {
  %0 = attn.project %x, %w, %b : (tensor<?x48xbf16>, tensor<48x40xbf16>, tensor<40xbf16>) -> tensor<?x40xbf16>
  %y = arith.addf %0, %r : tensor<?x40xbf16>
  return %y : tensor<?x40xbf16>
}

// A gate of another product, which is one's own result, too.
func.func @gate(%x: tensor<?x32xf16>, %w: tensor<32x130xf16>, %v: tensor<32x130xf16>) -> (tensor<?x130xf16>, tensor<?x130xf16>) {
  %0 = attn.project %x, %w : (tensor<?x32xf16>, tensor<32x130xf16>) -> tensor<?x130xf16>
  %1 = attn.project %x, %v : (tensor<?x32xf16>, tensor<32x130xf16>) -> tensor<?x130xf16>
  %t = math.tanh %1 : tensor<?x130xf16>
  %y = arith.mulf %t, %0 : tensor<?x130xf16>
  return %y, %0 : tensor<?x130xf16>, tensor<?x130xf16>
}

// GELU of f32, whose result is of 16 bits.
func.func @gelu(%x: tensor<70x20xf32>, %w: tensor<96x20xf32>, %b: tensor<96xf32>) -> tensor<70x96xf16> {
  %half = arith.constant dense<0.5> : tensor<70x96xf32>
  %one = arith.constant dense<1.0> : tensor<70x96xf32>
  %root = arith.constant dense<0.70710678> : tensor<70x96xf32>
  %0 = attn.project %x, %w transposed, %b : (tensor<70x20xf32>, tensor<96x20xf32>, tensor<96xf32>) -> tensor<70x96xf32>
  %1 = arith.mulf %0, %root : tensor<70x96xf32>
  %2 = math.erf %1 : tensor<70x96xf32>
  %3 = arith.addf %2, %one : tensor<70x96xf32>
  %4 = arith.mulf %3, %half : tensor<70x96xf32>
  %5 = arith.mulf %4, %0 : tensor<70x96xf32>
  %6 = arith.truncf %5 : tensor<70x96xf32> to tensor<70x96xf16>
  return %6 : tensor<70x96xf16>
}

// Batch entries, a row of numbers and one that is compared.
func.func @rows(%x: tensor<?x3x64xbf16>, %w: tensor<64x32xbf16>, %g: tensor<32xbf16>) -> tensor<?x3x32xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x3x64xbf16>
  %0 = attn.project %x, %w : (tensor<?x3x64xbf16>, tensor<64x32xbf16>) -> tensor<?x3x32xbf16>
  %e = tensor.empty(%n) : tensor<?x3x32xbf16>
  %rows = linalg.broadcast ins(%g : tensor<32xbf16>) outs(%e : tensor<?x3x32xbf16>) dimensions = [0, 1]
  %1 = arith.mulf %0, %rows : tensor<?x3x32xbf16>
  %2 = arith.maximumf %1, %rows : tensor<?x3x32xbf16>
  return %2 : tensor<?x3x32xbf16>
}

// One row, and a chain of two products.
func.func @one_row(%x: tensor<1x64xf16>, %w: tensor<64x80xf16>, %v: tensor<80x64xf16>) -> tensor<1x64xf16> {
  %zero = arith.constant dense<0.0> : tensor<1x80xf16>
  %0 = attn.project %x, %w : (tensor<1x64xf16>, tensor<64x80xf16>) -> tensor<1x80xf16>
  %1 = arith.maximumf %0, %zero : tensor<1x80xf16>
  %2 = attn.project %1, %v : (tensor<1x80xf16>, tensor<80x64xf16>) -> tensor<1x64xf16>
  %3 = arith.addf %2, %x : tensor<1x64xf16>
  return %3 : tensor<1x64xf16>
}

// Whole tiles of warps side by side, which go through memory.
func.func @whole(%x: tensor<?x64xbf16>, %w: tensor<128x64xbf16>, %r: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  %0 = attn.project %x, %w transposed {schedule = #attn.gpu_schedule<query_tile = 128, key_tile = 128, warps = 4, kind = prefill, column_warps = 2>}
      : (tensor<?x64xbf16>, tensor<128x64xbf16>) -> tensor<?x128xbf16>
  %1 = arith.addf %0, %r : tensor<?x128xbf16>
  return %1 : tensor<?x128xbf16>
}
