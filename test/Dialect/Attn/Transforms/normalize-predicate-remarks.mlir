// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Why the analysis cannot read a predicate is a remark at the op.
// RUN: attn-opt %s --attn-normalize --verify-diagnostics --remarks-filter-passed=attn-normalize --remarks-filter-missed=attn-normalize --remark-policy=all

func.func @linear(%s: tensor<5x6xf32>) -> tensor<5x6xf32> {
  // expected-remark @below {{the predicate is linear: its tiles follow from it}}
  %r = attn.mask_fn %s (%b, %h, %q, %k) {
    %past = arith.cmpi ule, %k, %q : index
    attn.yield %past : i1
  } : tensor<5x6xf32>
  return %r : tensor<5x6xf32>
}

func.func @opaque(%s: tensor<5x6xf32>, %t: tensor<?xi32>) -> tensor<5x6xf32> {
  %r = attn.mask_fn %s (%b, %h, %q, %k) with (%x = %t : tensor<?xi32>) {
    // expected-remark @below {{the predicate is tested for every pair of the tiles that remain: arith.muli multiplies two run-time values}}
    %product = arith.muli %q, %k : index
    // expected-remark @below {{tensor.extract has no linear reading}}
    %at = tensor.extract %x[%product] : tensor<?xi32>
    %c3 = arith.constant 3 : i32
    %same = arith.cmpi eq, %at, %c3 : i32
    %i = arith.index_cast %q : index to i32
    %j = arith.index_cast %k : index to i32
    // expected-remark @below {{arith.addi may wrap around; use index, or overflow<nsw>}}
    %sum = arith.addi %i, %j : i32
    %small = arith.cmpi slt, %sum, %c3 : i32
    %r = arith.andi %same, %small : i1
    attn.yield %r : i1
  } : tensor<5x6xf32>
  return %r : tensor<5x6xf32>
}

func.func @no_wrap(%s: tensor<5x6xf32>) -> tensor<5x6xf32> {
  // expected-remark @below {{the predicate is linear}}
  %r = attn.mask_fn %s (%b, %h, %q, %k) {
    %i = arith.index_cast %q : index to i32
    %j = arith.index_cast %k : index to i32
    %sum = arith.addi %i, %j overflow<nsw> : i32
    %difference = arith.subi %i, %j : i32
    %small = arith.cmpi sle, %sum, %difference : i32
    attn.yield %small : i1
  } : tensor<5x6xf32>
  return %r : tensor<5x6xf32>
}
