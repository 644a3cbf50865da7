// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the parser says of a mask that it does not understand.
func.func @unknown_term(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{unknown mask term 'sliding', expects block, causal, chunked, dilated, document, key_length, predicate, prefix, sink, tree, window or a boolean operand}}
  %r = attn.mask %s where sliding(4) : tensor<5x6xf32>
  return
}

// -----

func.func @no_mask(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{expected SSA operand}}
  %r = attn.mask %s where  : tensor<5x6xf32>
  return
}

// -----

func.func @alignment_missing(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{expected valid keyword}}
  %r = attn.mask %s where causal() : tensor<5x6xf32>
  return
}

// -----

func.func @alignment_unknown(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{expects top_left, bottom_right or offset after 'causal(', but got 'middle'}}
  %r = attn.mask %s where causal(middle) : tensor<5x6xf32>
  return
}

// -----

func.func @causal_without_parenthesis(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{expected '('}}
  %r = attn.mask %s where causal top_left : tensor<5x6xf32>
  return
}

// -----

func.func @causal_not_closed(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{expected ')'}}
  %r = attn.mask %s where causal(top_left : tensor<5x6xf32>
  return
}

// -----

func.func @offset_without_value(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{expected '='}}
  %r = attn.mask %s where causal(offset) : tensor<5x6xf32>
  return
}

// -----

func.func @offset_of_word(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{expected SSA operand}}
  %r = attn.mask %s where causal(offset = one) : tensor<5x6xf32>
  return
}

// -----

func.func @parenthesis_not_closed(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{expected ')'}}
  %r = attn.mask %s where (causal(top_left) : tensor<5x6xf32>
  return
}

// -----

func.func @key_length_without_type(%s: tensor<5x6xf32>, %n: tensor<i32>) {
  // expected-error@+1 {{expects ': type' after a mask operand}}
  %r = attn.mask %s where key_length(%n) : tensor<5x6xf32>
  return
}

// -----

func.func @key_length_of_a_constant(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{expected SSA operand}}
  %r = attn.mask %s where key_length(7) : tensor<5x6xf32>
  return
}

// -----

func.func @key_length_not_closed(%s: tensor<5x6xf32>, %n: tensor<i32>) {
  // expected-error@+1 {{expected ')'}}
  %r = attn.mask %s where key_length(%n : tensor<i32> : tensor<5x6xf32>
  return
}

// -----

func.func @boolean_without_type(%s: tensor<5x6xf32>, %m: tensor<5x6xi1>) {
  // expected-error@+1 {{expected ':'}}
  %r = attn.mask %s where %m : tensor<5x6xf32>
  return
}

// -----

func.func @and_without_second(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{expected SSA operand}}
  %r = attn.mask %s where causal(top_left) and : tensor<5x6xf32>
  return
}

// -----

func.func @or_first(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{unknown mask term 'or'}}
  %r = attn.mask %s where or causal(top_left) : tensor<5x6xf32>
  return
}

// -----

func.func @not_without_term(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{expected SSA operand}}
  %r = attn.mask %s where not : tensor<5x6xf32>
  return
}

// -----

func.func @operand_of_other_type(%s: tensor<5x6xf32>, %n: tensor<i64>) { // expected-note {{prior use here}}
  // expected-error@+1 {{use of value '%n' expects different type than prior uses: 'tensor<i32>' vs 'tensor<i64>'}}
  %r = attn.mask %s where key_length(%n : tensor<i32>) : tensor<5x6xf32>
  return
}

// -----

func.func @window_without_side(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{expects left or right after 'window('}}
  %r = attn.mask %s where window(3, 4) : tensor<5x6xf32>
  return
}

// -----

func.func @position_unknown(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{expects top_left, bottom_right or offset, but got 'middle'}}
  %r = attn.mask %s where chunked(4, middle) : tensor<5x6xf32>
  return
}

// -----

func.func @bit_of_two(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{expects bits of 0 or 1, but got 2}}
  %r = attn.mask %s where block(2, 2, bits = [[1, 2]]) : tensor<5x6xf32>
  return
}

// -----

func.func @rows_of_two_lengths(%s: tensor<5x6xf32>) {
  // expected-error@+1 {{expects rows of 2 bits, but got 1}}
  %r = attn.mask %s where block(2, 2, bits = [[1, 0], [1]]) : tensor<5x6xf32>
  return
}

// -----

func.func @in_something_else(%s: tensor<5x6xf32>, %d: tensor<3xi32>) {
  // expected-error@+1 {{expected 'document'}}
  %r = attn.mask %s where document(cumulative %d : tensor<3xi32>) and causal(top_left in block) : tensor<5x6xf32>
  return
}

// -----

func.func @offset_in_document(%s: tensor<5x6xf32>, %d: tensor<3xi32>) {
  // expected-error@+1 {{expected ')'}}
  %r = attn.mask %s where document(cumulative %d : tensor<3xi32>) and window(left = 2, offset = 1 in document) : tensor<5x6xf32>
  return
}
