// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the loops of the portable form cannot read where it lies is refused.
// RUN: attn-opt %s --attn-lower-tile-products -split-input-file -verify-diagnostics
#a = affine_map<(i, j, p, w) -> (i, p, w)>
#b = affine_map<(i, j, p, w) -> (p, j, w)>
#c = affine_map<(i, j, p, w) -> (i, j)>
func.func @argument(%x: vector<16x16x2xbf16>, %c: vector<16x16xf32>) -> vector<16x16xf32> {
  // expected-error@+1 {{expects a product of tiles to have loads of matrices as operands, with no write of memory in between}}
  %n = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction", "reduction"], kind = #vector.kind<add>} %x, %x, %c
      : vector<16x16x2xbf16>, vector<16x16x2xbf16> into vector<16x16xf32>
  return %n : vector<16x16xf32>
}

// -----

#a = affine_map<(i, j, p, w) -> (i, p, w)>
#b = affine_map<(i, j, p, w) -> (p, j, w)>
#c = affine_map<(i, j, p, w) -> (i, j)>
func.func @write_in_between(%s: memref<32x32xbf16>, %o: memref<8x16xf32>, %i: index, %w: vector<16xf32>, %c: vector<16x16xf32>) -> vector<16x16xf32> {
  %a = vector.load %s[%i, %i] : memref<32x32xbf16>, vector<16x32xbf16>
  %x = vector.shape_cast %a : vector<16x32xbf16> to vector<16x16x2xbf16>
  vector.store %w, %o[%i, %i] : memref<8x16xf32>, vector<16xf32>
  // expected-error@+1 {{with no write of memory in between}}
  %n = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction", "reduction"], kind = #vector.kind<add>} %x, %x, %c
      : vector<16x16x2xbf16>, vector<16x16x2xbf16> into vector<16x16xf32>
  return %n : vector<16x16xf32>
}

// -----

#a = affine_map<(i, j, p, w) -> (i, p, w)>
#b = affine_map<(i, j, p, w) -> (p, j, w)>
#c = affine_map<(i, j, p, w) -> (i, j)>
func.func @batch(%s: memref<4x32x32xbf16>, %i: index, %c: vector<16x16xf32>) -> vector<16x16xf32> {
  %a = vector.load %s[%i, %i, %i] : memref<4x32x32xbf16>, vector<16x32xbf16>
  %x = vector.shape_cast %a : vector<16x32xbf16> to vector<16x16x2xbf16>
  // expected-error@+1 {{loads of matrices}}
  %n = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction", "reduction"], kind = #vector.kind<add>} %x, %x, %c
      : vector<16x16x2xbf16>, vector<16x16x2xbf16> into vector<16x16xf32>
  return %n : vector<16x16xf32>
}
