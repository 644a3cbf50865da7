// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.mask rejects about single terms; the numbers are those of docs/Spec.md.

func.func @mask_c9_no_side(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects window to have left or right}}
  %r = "attn.mask"(%s) <{mask = #attn.window<>}> : (tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c9_negative(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects window(right) of at least 0, but got -1}}
  %r = attn.mask %s where window(left = 3, right = -1) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c10_prefix(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects prefix of at least 1, but got 0}}
  %r = attn.mask %s where prefix(0) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c10_sink(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects sink of at least 1, but got 0}}
  %r = attn.mask %s where sink(0) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c10_chunked(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects chunked of at least 1, but got 0}}
  %r = attn.mask %s where chunked(0) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c10_dilated(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects dilated of at least 1, but got 0}}
  %r = attn.mask %s where dilated(0) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c11_empty_blocks(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects blocks of at least 1 query and 1 key, but got 0 and 3}}
  %r = attn.mask %s where block(0, 3, bits = [[1]]) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c11_integers(%s: tensor<2x4x5x6xf32>, %m0: tensor<?x?xi32>) {
  // expected-error@+1 {{expects the bitmap of block to be a matrix of i1, or one per batch entry and head, but got 'tensor<?x?xi32>'}}
  %r = attn.mask %s where block(2, 3, %m0 : tensor<?x?xi32>) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c11_other_heads(%s: tensor<2x4x5x6xf32>, %m0: tensor<3x?x?xi1>) {
  // expected-error@+1 {{expects the bitmap of block to be a matrix of i1, or one per batch entry and head, but got 'tensor<3x?x?xi1>'}}
  %r = attn.mask %s where block(2, 3, %m0 : tensor<3x?x?xi1>) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c11_neither(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects block to have either bits or an operand}}
  %r = "attn.mask"(%s) <{mask = #attn.block<queries = 2, keys = 2>}> : (tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c11_ragged(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects rows of 2 bits in block, but got 3 bits}}
  %r = "attn.mask"(%s) <{mask = #attn.block<queries = 2, keys = 2, bits = [true, false, true], columns = 2>}> : (tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c12_too_many(%s: tensor<2x4x5x6xf32>, %m0: tensor<33xi32>) {
  // expected-error@+1 {{expects tree of 1 to 32 tokens, but got 33}}
  %r = attn.mask %s where tree(33, %m0 : tensor<33xi32>) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c12_other_size(%s: tensor<2x4x5x6xf32>, %m0: tensor<4xi64>) {
  // expected-error@+1 {{expects the operand of tree to have rows of 3 elements, but got 'tensor<4xi64>'}}
  %r = attn.mask %s where tree(3, %m0 : tensor<4xi64>) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c12_other_batch(%s: tensor<2x4x5x6xf32>, %m0: tensor<3x4xi64>) {
  // expected-error@+1 {{expects the operand of tree to have one row per batch entry (2), but got 'tensor<3x4xi64>'}}
  %r = attn.mask %s where tree(4, %m0 : tensor<3x4xi64>) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c12_too_many_tokens(%s: tensor<2x4x5x6xf32>, %m0: tensor<2xi32>) {
  // expected-error@+1 {{expects tree of 1 to 32 tokens, but got 65}}
  %r = attn.mask %s where tree(65, %m0 : tensor<2xi32>) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c13_one_row_for_two_lengths(%s: tensor<2x4x5x6xf32>, %m0: tensor<5xi32>) {
  // expected-error@+1 {{expects the operand of document to have rows of 6 elements, but got 'tensor<5xi32>'}}
  %r = attn.mask %s where document(%m0 : tensor<5xi32>) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c13_floats(%s: tensor<2x4x5x6xf32>, %m0: tensor<?xf32>) {
  // expected-error@+1 {{expects the operand of document to be a tensor of i32 or i64, of rank 1 or with one row per batch entry, but got 'tensor<?xf32>'}}
  %r = attn.mask %s where document(%m0 : tensor<?xf32>) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c13_cumulative_matrix(%s: tensor<2x4x5x6xf32>, %m0: tensor<2x?xi32>) {
  // expected-error@+1 {{expects document(cumulative) to have a tensor of i32 or i64 with at least one element, but got 'tensor<2x?xi32>'}}
  %r = attn.mask %s where document(cumulative %m0 : tensor<2x?xi32>) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c13_two_bounds(%s: tensor<2x4x5x6xf32>, %m0: tensor<5xi32>, %m1: tensor<6xi32>) {
  // expected-error@+1 {{expects document to have three bounds of type index, or none}}
  %r = "attn.mask"(%s, %m0, %m1) <{mask = #attn.document<<0>, <1> bounds [<0>, <0>]>}> : (tensor<2x4x5x6xf32>, tensor<5xi32>, tensor<6xi32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c14_operand_missing(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects predicate to have 1 operands, but got 0}}
  %r = attn.mask %s where predicate(#attn.program<inputs = [tensor<4xi32>], <"tensor.extract", [4, 1], {}, i32>, <"arith.cmpi", [5, 5], {predicate = 0 : i64}, i1>>) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c14_other_type(%s: tensor<2x4x5x6xf32>, %m0: tensor<4xi64>) {
  // expected-error@+1 {{expects an operand of predicate to be 'tensor<4xi32>', but got 'tensor<4xi64>'}}
  %r = attn.mask %s where predicate(#attn.program<inputs = [tensor<4xi32>], <"tensor.extract", [4, 1], {}, i32>, <"arith.cmpi", [5, 5], {predicate = 0 : i64}, i1>>, %m0 : tensor<4xi64>) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c14_unknown_op(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects a step of predicate to be an op, but got "arith.magic"}}
  %r = attn.mask %s where predicate(#attn.program<<"arith.magic", [2, 3], {}, i1>>) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c14_reads_ahead(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects a step of predicate to read one of 4 values, but got 4}}
  %r = attn.mask %s where predicate(#attn.program<<"arith.andi", [4, 4], {}, i1>>) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c14_integer(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects the last step of predicate to give an i1}}
  %r = attn.mask %s where predicate(#attn.program<<"arith.addi", [2, 3], {}, index>>) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c15_no_document(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects document(cumulative), and no other document, in the conjunction at the top of a mask with a position in document}}
  %r = attn.mask %s where causal(bottom_right in document) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c15_numbers(%s: tensor<2x4x5x5xf32>, %m0: tensor<5xi32>) {
  // expected-error@+1 {{expects document(cumulative), and no other document, in the conjunction at the top of a mask with a position in document}}
  %r = attn.mask %s where document(%m0 : tensor<5xi32>) and window(left = 2, top_left in document) : tensor<2x4x5x5xf32>
  return
}

// -----

func.func @mask_c15_two_documents(%s: tensor<2x4x5x6xf32>, %m0: tensor<3xi32>) {
  // expected-error@+1 {{expects document(cumulative), and no other document, in the conjunction at the top of a mask with a position in document}}
  %r = attn.mask %s where document(cumulative %m0 : tensor<3xi32>) and document(cumulative %m0 : tensor<3xi32>) and chunked(2, top_left in document) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c15_under_or(%s: tensor<2x4x5x6xf32>, %m0: tensor<3xi32>) {
  // expected-error@+1 {{expects document(cumulative), and no other document, in the conjunction at the top of a mask with a position in document}}
  %r = attn.mask %s where sink(4) or (document(cumulative %m0 : tensor<3xi32>) and causal(top_left in document)) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c16_tensor(%s: tensor<2x4x5x6xf32>, %m0: tensor<2xi32>) {
  // expected-error@+1 {{expects chunked to count from an operand of type index, but got 'tensor<2xi32>'}}
  %r = attn.mask %s where chunked(4, from %m0 : tensor<2xi32>) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c17_causal(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects causal(offset) between -2^40 and 2^40, but got 9223372036854775807}}
  %r = attn.mask %s where causal(offset = 9223372036854775807) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c17_window(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects window(left) between -2^40 and 2^40, but got 1099511627777}}
  %r = attn.mask %s where window(left = 1099511627777) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c17_negative(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects dilated(offset) between -2^40 and 2^40, but got -1099511627777}}
  %r = attn.mask %s where dilated(2, offset = -1099511627777) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c17_prefix(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects prefix between -2^40 and 2^40, but got 9223372036854775807}}
  %r = attn.mask %s where prefix(9223372036854775807) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c17_sink(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects sink between -2^40 and 2^40, but got 1099511627777}}
  %r = attn.mask %s where sink(1099511627777) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c17_chunked(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects chunked between -2^40 and 2^40, but got 1099511627777}}
  %r = attn.mask %s where chunked(1099511627777) : tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_c17_block(%s: tensor<2x4x5x6xf32>) {
  // expected-error@+1 {{expects block between -2^40 and 2^40, but got 1099511627777}}
  %r = attn.mask %s where block(1, 1099511627777, bits = [[1]]) : tensor<2x4x5x6xf32>
  return
}
