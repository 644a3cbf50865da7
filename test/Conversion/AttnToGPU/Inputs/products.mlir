// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of tiles: rows few and many, columns and features that fill no tile, and parts of features: one, two, a loop of pairs and what is left.

// A chain with a residual.
func.func @chain(%x: tensor<?x32xf32>, %a: tensor<32x32xf32>, %c: tensor<32x32xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>) {
  %0 = attn.project %x, %a : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  %t = math.tanh %0 : tensor<?x32xf32>
  %1 = attn.project %t, %c : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  %y = arith.addf %x, %1 : tensor<?x32xf32>
  return %y, %0 : tensor<?x32xf32>, tensor<?x32xf32>
}

func.func @one_part(%x: tensor<?x64xbf16>, %w: tensor<64x128xbf16>) -> tensor<?x128xbf16> {
  %0 = attn.project %x, %w : (tensor<?x64xbf16>, tensor<64x128xbf16>) -> tensor<?x128xbf16>
  return %0 : tensor<?x128xbf16>
}

func.func @parts(%x: tensor<?x840xf16>, %w: tensor<840x40xf16>, %b: tensor<40xf16>) -> tensor<?x40xf16> {
  %0 = attn.project %x, %w, %b : (tensor<?x840xf16>, tensor<840x40xf16>, tensor<40xf16>) -> tensor<?x40xf16>
  return %0 : tensor<?x40xf16>
}

func.func @transposed(%x: tensor<?x200xbf16>, %w: tensor<130x200xbf16>, %b: tensor<130xf32>) -> tensor<?x130xf32> {
  %0 = attn.project %x, %w transposed, %b : (tensor<?x200xbf16>, tensor<130x200xbf16>, tensor<130xf32>) -> tensor<?x130xf32>
  return %0 : tensor<?x130xf32>
}

// Rows that begin at no multiple of 16 bytes.
func.func @unaligned(%x: tensor<?x37xf16>, %w: tensor<37x21xf16>) -> tensor<?x21xf16> {
  %0 = attn.project %x, %w : (tensor<?x37xf16>, tensor<37x21xf16>) -> tensor<?x21xf16>
  return %0 : tensor<?x21xf16>
}

func.func @f32(%x: tensor<?x100xf32>, %w: tensor<100x144xf32>, %b: tensor<144xf32>) -> tensor<?x144xf32> {
  %0 = attn.project %x, %w, %b : (tensor<?x100xf32>, tensor<100x144xf32>, tensor<144xf32>) -> tensor<?x144xf32>
  return %0 : tensor<?x144xf32>
}

func.func @f32_transposed(%x: tensor<?x70xf32>, %w: tensor<80x70xf32>) -> tensor<?x80xf32> {
  %0 = attn.project %x, %w transposed : (tensor<?x70xf32>, tensor<80x70xf32>) -> tensor<?x80xf32>
  return %0 : tensor<?x80xf32>
}

func.func @batches(%x: tensor<2x?x48xf16>, %w: tensor<48x32xf16>) -> tensor<2x?x32xf16> {
  %0 = attn.project %x, %w : (tensor<2x?x48xf16>, tensor<48x32xf16>) -> tensor<2x?x32xf16>
  return %0 : tensor<2x?x32xf16>
}

func.func @weights(%x: tensor<?x70x32xbf16>, %w: tensor<?x32x48xbf16>, %b: tensor<48xbf16>) -> tensor<?x70x48xbf16> {
  %0 = attn.project %x, %w, %b : (tensor<?x70x32xbf16>, tensor<?x32x48xbf16>, tensor<48xbf16>) -> tensor<?x70x48xbf16>
  return %0 : tensor<?x70x48xbf16>
}

// Batch entries of one row are the rows.
func.func @joined(%x: tensor<?x1x64xf16>, %w: tensor<64x96xf16>) -> tensor<?x1x96xf16> {
  %0 = attn.project %x, %w : (tensor<?x1x64xf16>, tensor<64x96xf16>) -> tensor<?x1x96xf16>
  return %0 : tensor<?x1x96xf16>
}

func.func @one_row(%x: tensor<1x600xf16>, %w: tensor<600x80xf16>, %b: tensor<80xf16>) -> tensor<1x80xf16> {
  %0 = attn.project %x, %w, %b : (tensor<1x600xf16>, tensor<600x80xf16>, tensor<80xf16>) -> tensor<1x80xf16>
  return %0 : tensor<1x80xf16>
}

func.func @some_rows(%x: tensor<50x128xbf16>, %w: tensor<128x64xbf16>) -> tensor<50x64xbf16> {
  %0 = attn.project %x, %w : (tensor<50x128xbf16>, tensor<128x64xbf16>) -> tensor<50x64xbf16>
  return %0 : tensor<50x64xbf16>
}

// Queries and values of two types.
func.func @mixed(%q: tensor<2x?x24xf16>, %v: tensor<2x?x16xf32>) -> tensor<2x?x16xf32> {
  %0 = attn.sdpa %q, %q, %v scale 0.2 : (tensor<2x?x24xf16>, tensor<2x?x24xf16>, tensor<2x?x16xf32>) -> tensor<2x?x16xf32>
  return %0 : tensor<2x?x16xf32>
}
