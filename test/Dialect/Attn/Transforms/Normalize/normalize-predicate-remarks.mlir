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

// Each exclusive or doubles the formula; a longer one is left to the program.
func.func @parity(%s: tensor<5x6xf32>) -> tensor<5x6xf32> {
  %r = attn.mask_fn %s (%b, %h, %q, %k) {
    %c0 = arith.constant 0 : index
    %a0 = arith.addi %q, %c0 : index
    %p0 = arith.cmpi sge, %a0, %k : index
    %c1 = arith.constant 3 : index
    %a1 = arith.addi %q, %c1 : index
    %p1 = arith.cmpi sge, %a1, %k : index
    %x1 = arith.xori %p0, %p1 : i1
    %c2 = arith.constant 6 : index
    %a2 = arith.addi %q, %c2 : index
    %p2 = arith.cmpi sge, %a2, %k : index
    %x2 = arith.xori %x1, %p2 : i1
    %c3 = arith.constant 9 : index
    %a3 = arith.addi %q, %c3 : index
    %p3 = arith.cmpi sge, %a3, %k : index
    %x3 = arith.xori %x2, %p3 : i1
    %c4 = arith.constant 12 : index
    %a4 = arith.addi %q, %c4 : index
    %p4 = arith.cmpi sge, %a4, %k : index
    %x4 = arith.xori %x3, %p4 : i1
    %c5 = arith.constant 15 : index
    %a5 = arith.addi %q, %c5 : index
    %p5 = arith.cmpi sge, %a5, %k : index
    %x5 = arith.xori %x4, %p5 : i1
    %c6 = arith.constant 18 : index
    %a6 = arith.addi %q, %c6 : index
    %p6 = arith.cmpi sge, %a6, %k : index
    %x6 = arith.xori %x5, %p6 : i1
    %c7 = arith.constant 21 : index
    %a7 = arith.addi %q, %c7 : index
    %p7 = arith.cmpi sge, %a7, %k : index
    %x7 = arith.xori %x6, %p7 : i1
    %c8 = arith.constant 24 : index
    %a8 = arith.addi %q, %c8 : index
    %p8 = arith.cmpi sge, %a8, %k : index
    // expected-remark @below {{the predicate is tested for every pair of the tiles that remain: arith.xori needs more than 512 comparisons}}
    %x8 = arith.xori %x7, %p8 : i1
    %c9 = arith.constant 27 : index
    %a9 = arith.addi %q, %c9 : index
    %p9 = arith.cmpi sge, %a9, %k : index
    %x9 = arith.xori %x8, %p9 : i1
    attn.yield %x9 : i1
  } : tensor<5x6xf32>
  return %r : tensor<5x6xf32>
}
