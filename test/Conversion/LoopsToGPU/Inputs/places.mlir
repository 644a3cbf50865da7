// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slices whose places are elements of a tensor, as a newcomer would write them. `at` has
// the place: 0 to 4 are inside.

// One new row of a cache with room for five, in place.
func.func @row(%at: tensor<1xi64>, %new: tensor<1x8xf32>, %cache: tensor<5x8xf32>) -> (tensor<5x8xf32> {attn.in_place = "cache"}) {
  %c0 = arith.constant 0 : index
  %n = tensor.extract %at[%c0] : tensor<1xi64>
  %place = arith.index_cast %n : i64 to index
  %0 = tensor.insert_slice %new into %cache[%place, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<5x8xf32>
  return %0 : tensor<5x8xf32>
}

// A place that is a number, of 32 bits; two results.
func.func @number(%at: tensor<i32>, %x: tensor<?x3x4xbf16>) -> (tensor<?x1x4xbf16>, tensor<?x3x4xbf16>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %b = tensor.dim %x, %c0 : tensor<?x3x4xbf16>
  %n = tensor.extract %at[] : tensor<i32>
  %wide = arith.index_cast %n : i32 to index
  %place = arith.subi %wide, %c2 : index
  %0 = tensor.extract_slice %x[0, %place, 0] [%b, 1, 4] [1, 1, 1] : tensor<?x3x4xbf16> to tensor<?x1x4xbf16>
  %twice = arith.addf %0, %0 : tensor<?x1x4xbf16>
  %1 = tensor.insert_slice %twice into %x[0, %place, 0] [%b, 1, 4] [1, 1, 1] : tensor<?x1x4xbf16> into tensor<?x3x4xbf16>
  return %twice, %1 : tensor<?x1x4xbf16>, tensor<?x3x4xbf16>
}

// Keys and values that are a part of a longer cache; one head, one query.
func.func @part(%at: tensor<1xi64>, %q: tensor<1x16xf16>, %keys: tensor<?x16xf16>, %values: tensor<?x16xf16>) -> tensor<1x16xf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.extract %at[%c0] : tensor<1xi64>
  %place = arith.index_cast %n : i64 to index
  %k = tensor.extract_slice %keys[%place, 0] [35, 16] [1, 1] : tensor<?x16xf16> to tensor<35x16xf16>
  %v = tensor.extract_slice %values[%place, 0] [35, 16] [1, 1] : tensor<?x16xf16> to tensor<35x16xf16>
  %o = attn.sdpa %q, %k, %v scale 0.25 : (tensor<1x16xf16>, tensor<35x16xf16>, tensor<35x16xf16>) -> tensor<1x16xf16>
  return %o : tensor<1x16xf16>
}

// The place of new keys, from which the mask follows, too; groups of two heads, and the norm of what comes out.
func.func @step(%at: tensor<?xi64>, %q: tensor<?x4x?x16xbf16>, %k: tensor<?x2x?x16xbf16>, %v: tensor<?x2x?x16xbf16>, %keys: tensor<?x2x?x16xbf16>, %values: tensor<?x2x?x16xbf16>)
    -> (tensor<?x4x?x16xbf16>, tensor<?x2x?x16xbf16> {attn.in_place = "keys"}, tensor<?x2x?x16xbf16> {attn.in_place = "values"}) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %batch = tensor.dim %k, %c0 : tensor<?x2x?x16xbf16>
  %words = tensor.dim %k, %c2 : tensor<?x2x?x16xbf16>
  %n = tensor.extract %at[%c0] : tensor<?xi64>
  %past = arith.index_cast %n : i64 to index
  %start = tensor.extract_slice %at[0] [1] [1] : tensor<?xi64> to tensor<1xi64>
  %allk = tensor.insert_slice %k into %keys[0, 0, %past, 0] [%batch, 2, %words, 16] [1, 1, 1, 1] : tensor<?x2x?x16xbf16> into tensor<?x2x?x16xbf16>
  %allv = tensor.insert_slice %v into %values[0, 0, %past, 0] [%batch, 2, %words, 16] [1, 1, 1, 1] : tensor<?x2x?x16xbf16> into tensor<?x2x?x16xbf16>
  %o = attn.sdpa %q, %allk, %allv scale 0.25 where causal(offset = %start : tensor<1xi64>) : (tensor<?x4x?x16xbf16>, tensor<?x2x?x16xbf16>, tensor<?x2x?x16xbf16>) -> tensor<?x4x?x16xbf16>
  %g = arith.constant dense<1.0> : tensor<16xbf16>
  %y = attn.rms_norm %o, %g eps 1.0e-5 : tensor<?x4x?x16xbf16>, tensor<16xbf16>
  return %y, %allk, %allv : tensor<?x4x?x16xbf16>, tensor<?x2x?x16xbf16>, tensor<?x2x?x16xbf16>
}

// Two rows one behind the other: the second place follows from the first, and what is read was written before.
func.func @chained(%at: tensor<?xi64>, %x: tensor<2x8xf32>, %cache: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<2x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.extract %at[%c0] : tensor<?xi64>
  %place = arith.index_cast %n : i64 to index
  %next = arith.addi %place, %c1 : index
  %a = tensor.extract_slice %x[0, 0] [1, 8] [1, 1] : tensor<2x8xf32> to tensor<1x8xf32>
  %b = tensor.extract_slice %x[1, 0] [1, 8] [1, 1] : tensor<2x8xf32> to tensor<1x8xf32>
  %0 = tensor.insert_slice %a into %cache[%place, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<?x8xf32>
  %1 = tensor.insert_slice %b into %0[%next, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<?x8xf32>
  %both = tensor.extract_slice %1[%place, 0] [2, 8] [1, 1] : tensor<?x8xf32> to tensor<2x8xf32>
  %sum = arith.addf %both, %x : tensor<2x8xf32>
  return %1, %sum : tensor<?x8xf32>, tensor<2x8xf32>
}
