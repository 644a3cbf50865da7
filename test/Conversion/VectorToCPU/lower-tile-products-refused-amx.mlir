// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a tile register cannot hold, or cannot take from where it is, is refused.
// RUN: attn-opt %s --attn-lower-tile-products=amx -split-input-file -verify-diagnostics
func.func @ones() -> vector<16x16xf32> {
  // expected-error@+1 {{failed to legalize operation 'arith.constant' that was explicitly marked illegal}}
  %one = arith.constant dense<1.0> : vector<16x16xf32>
  return %one : vector<16x16xf32>
}

// -----

func.func @batch(%s: memref<4x32x32xbf16>, %i: index) -> vector<16x32xbf16> {
  // expected-error@+1 {{failed to legalize operation 'vector.load' that was explicitly marked illegal}}
  %a = vector.load %s[%i, %i, %i] : memref<4x32x32xbf16>, vector<16x32xbf16>
  return %a : vector<16x32xbf16>
}

// -----

#a = affine_map<(i, j, p, w) -> (i, p, w)>
#b = affine_map<(i, j, p, w) -> (p, j, w)>
#c = affine_map<(i, j, p, w) -> (i, j)>
func.func @maximum(%x: vector<16x16x2xbf16>, %c: vector<16x16xf32>) -> vector<16x16xf32> {
  // expected-error@+1 {{failed to legalize operation 'vector.contract' that was explicitly marked illegal}}
  %n = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction", "reduction"], kind = #vector.kind<maxnumf>} %x, %x, %c
      : vector<16x16x2xbf16>, vector<16x16x2xbf16> into vector<16x16xf32>
  return %n : vector<16x16xf32>
}
