// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maps that cannot be subtracted in one attn.sdpa, each with its reason.
// RUN: attn-opt %s --attn-fuse --split-input-file --verify-diagnostics --remarks-filter-missed=attn-fuse --remark-policy=all

func.func @query_types(%q1: tensor<?x8x?x4xf32>, %k1: tensor<?x2x?x4xf32>, %q2: tensor<2x8x?x4xf32>, %k2: tensor<2x2x?x4xf32>, %v: tensor<?x2x?x4xf32>, %l: tensor<8xf32>) -> tensor<?x8x?x4xf32> {
  %s1 = attn.scores %q1, %k1 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t1 = attn.scale %s1 by 0.5 : tensor<?x8x?x?xf32>
  %w1 = attn.softmax %t1 : tensor<?x8x?x?xf32>
  %s2 = attn.scores %q2, %k2 : (tensor<2x8x?x4xf32>, tensor<2x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t2 = attn.scale %s2 by 0.5 : tensor<?x8x?x?xf32>
  %w2 = attn.softmax %t2 : tensor<?x8x?x?xf32>
  // expected-remark @below {{not fused: the two maps have different types of queries, but}}
  %w = attn.subtract_weights %w1, %w2 by %l : tensor<?x8x?x?xf32>, tensor<8xf32>
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// -----

func.func @key_types(%q1: tensor<?x8x?x4xf32>, %k1: tensor<?x2x?x4xf32>, %q2: tensor<?x8x?x4xf32>, %k2: tensor<?x2x7x4xf32>, %v: tensor<?x2x?x4xf32>, %l: tensor<8xf32>) -> tensor<?x8x?x4xf32> {
  %s1 = attn.scores %q1, %k1 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t1 = attn.scale %s1 by 0.5 : tensor<?x8x?x?xf32>
  %w1 = attn.softmax %t1 : tensor<?x8x?x?xf32>
  %s2 = attn.scores %q2, %k2 : (tensor<?x8x?x4xf32>, tensor<?x2x7x4xf32>) -> tensor<?x8x?x?xf32>
  %t2 = attn.scale %s2 by 0.5 : tensor<?x8x?x?xf32>
  %w2 = attn.softmax %t2 : tensor<?x8x?x?xf32>
  // expected-remark @below {{not fused: the two maps have different types of keys, but}}
  %w = attn.subtract_weights %w1, %w2 by %l : tensor<?x8x?x?xf32>, tensor<8xf32>
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// -----

func.func @scales(%q1: tensor<?x8x?x4xf32>, %k1: tensor<?x2x?x4xf32>, %q2: tensor<?x8x?x4xf32>, %k2: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x4xf32>, %l: tensor<8xf32>) -> tensor<?x8x?x4xf32> {
  %s1 = attn.scores %q1, %k1 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t1 = attn.scale %s1 by 0.5 : tensor<?x8x?x?xf32>
  %w1 = attn.softmax %t1 : tensor<?x8x?x?xf32>
  %s2 = attn.scores %q2, %k2 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t2 = attn.scale %s2 by 0.25 : tensor<?x8x?x?xf32>
  %w2 = attn.softmax %t2 : tensor<?x8x?x?xf32>
  // expected-remark @below {{not fused: the two maps have different scales, but attn.sdpa subtracts maps that have all but query and key in common}}
  %w = attn.subtract_weights %w1, %w2 by %l : tensor<?x8x?x?xf32>, tensor<8xf32>
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// -----

func.func @no_function(%q1: tensor<?x8x?x4xf32>, %k1: tensor<?x2x?x4xf32>, %q2: tensor<?x8x?x4xf32>, %k2: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x4xf32>, %l: tensor<8xf32>) -> tensor<?x8x?x4xf32> {
  %s1 = attn.scores %q1, %k1 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t1 = attn.scale %s1 by 0.5 : tensor<?x8x?x?xf32>
  %u10 = attn.softcap %t1 at 30.0 : tensor<?x8x?x?xf32>
  %w1 = attn.softmax %u10 : tensor<?x8x?x?xf32>
  %s2 = attn.scores %q2, %k2 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t2 = attn.scale %s2 by 0.5 : tensor<?x8x?x?xf32>
  %w2 = attn.softmax %t2 : tensor<?x8x?x?xf32>
  // expected-remark @below {{not fused: the two maps have different score functions, but attn.sdpa subtracts maps that have all but query and key in common}}
  %w = attn.subtract_weights %w1, %w2 by %l : tensor<?x8x?x?xf32>, tensor<8xf32>
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// -----

func.func @other_function(%q1: tensor<?x8x?x4xf32>, %k1: tensor<?x2x?x4xf32>, %q2: tensor<?x8x?x4xf32>, %k2: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x4xf32>, %l: tensor<8xf32>) -> tensor<?x8x?x4xf32> {
  %s1 = attn.scores %q1, %k1 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t1 = attn.scale %s1 by 0.5 : tensor<?x8x?x?xf32>
  %u10 = attn.softcap %t1 at 30.0 : tensor<?x8x?x?xf32>
  %w1 = attn.softmax %u10 : tensor<?x8x?x?xf32>
  %s2 = attn.scores %q2, %k2 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t2 = attn.scale %s2 by 0.5 : tensor<?x8x?x?xf32>
  %u20 = attn.softcap %t2 at 31.0 : tensor<?x8x?x?xf32>
  %w2 = attn.softmax %u20 : tensor<?x8x?x?xf32>
  // expected-remark @below {{not fused: the two maps have different score functions, but attn.sdpa subtracts maps that have all but query and key in common}}
  %w = attn.subtract_weights %w1, %w2 by %l : tensor<?x8x?x?xf32>, tensor<8xf32>
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// -----

func.func @other_region(%q1: tensor<?x8x?x4xf32>, %k1: tensor<?x2x?x4xf32>, %q2: tensor<?x8x?x4xf32>, %k2: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x4xf32>, %l: tensor<8xf32>) -> tensor<?x8x?x4xf32> {
  %s1 = attn.scores %q1, %k1 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t1 = attn.scale %s1 by 0.5 : tensor<?x8x?x?xf32>
  %u10 = attn.score_mod %t1 (%x: f32, %b, %h, %i, %j) {
    %y = arith.addf %x, %x : f32
    attn.yield %y : f32
  } : tensor<?x8x?x?xf32>
  %w1 = attn.softmax %u10 : tensor<?x8x?x?xf32>
  %s2 = attn.scores %q2, %k2 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t2 = attn.scale %s2 by 0.5 : tensor<?x8x?x?xf32>
  %u20 = attn.score_mod %t2 (%x: f32, %b, %h, %i, %j) {
    %y = arith.mulf %x, %x : f32
    attn.yield %y : f32
  } : tensor<?x8x?x?xf32>
  %w2 = attn.softmax %u20 : tensor<?x8x?x?xf32>
  // expected-remark @below {{not fused: the two maps have different score functions, but attn.sdpa subtracts maps that have all but query and key in common}}
  %w = attn.subtract_weights %w1, %w2 by %l : tensor<?x8x?x?xf32>, tensor<8xf32>
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// -----

func.func @other_capture(%q1: tensor<?x8x?x4xf32>, %k1: tensor<?x2x?x4xf32>, %q2: tensor<?x8x?x4xf32>, %k2: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x4xf32>, %l: tensor<8xf32>, %c1: f32, %c2: f32) -> tensor<?x8x?x4xf32> {
  %s1 = attn.scores %q1, %k1 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t1 = attn.scale %s1 by 0.5 : tensor<?x8x?x?xf32>
  %u10 = attn.score_mod %t1 (%x: f32, %b, %h, %i, %j) with (%u = %c1 : f32) {
    %y = arith.addf %x, %u : f32
    attn.yield %y : f32
  } : tensor<?x8x?x?xf32>
  %w1 = attn.softmax %u10 : tensor<?x8x?x?xf32>
  %s2 = attn.scores %q2, %k2 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t2 = attn.scale %s2 by 0.5 : tensor<?x8x?x?xf32>
  %u20 = attn.score_mod %t2 (%x: f32, %b, %h, %i, %j) with (%u = %c2 : f32) {
    %y = arith.addf %x, %u : f32
    attn.yield %y : f32
  } : tensor<?x8x?x?xf32>
  %w2 = attn.softmax %u20 : tensor<?x8x?x?xf32>
  // expected-remark @below {{not fused: the two maps have different score functions, but attn.sdpa subtracts maps that have all but query and key in common}}
  %w = attn.subtract_weights %w1, %w2 by %l : tensor<?x8x?x?xf32>, tensor<8xf32>
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// -----

func.func @biases(%q1: tensor<?x8x?x4xf32>, %k1: tensor<?x2x?x4xf32>, %q2: tensor<?x8x?x4xf32>, %k2: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x4xf32>, %l: tensor<8xf32>, %b: tensor<8x1x1xf32>) -> tensor<?x8x?x4xf32> {
  %s1 = attn.scores %q1, %k1 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t1 = attn.scale %s1 by 0.5 : tensor<?x8x?x?xf32>
  %u10 = attn.bias %t1, %b : tensor<?x8x?x?xf32>, tensor<8x1x1xf32>
  %w1 = attn.softmax %u10 : tensor<?x8x?x?xf32>
  %s2 = attn.scores %q2, %k2 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t2 = attn.scale %s2 by 0.5 : tensor<?x8x?x?xf32>
  %w2 = attn.softmax %t2 : tensor<?x8x?x?xf32>
  // expected-remark @below {{not fused: the two maps have different biases, but attn.sdpa subtracts maps that have all but query and key in common}}
  %w = attn.subtract_weights %w1, %w2 by %l : tensor<?x8x?x?xf32>, tensor<8xf32>
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// -----

func.func @masks(%q1: tensor<?x8x?x4xf32>, %k1: tensor<?x2x?x4xf32>, %q2: tensor<?x8x?x4xf32>, %k2: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x4xf32>, %l: tensor<8xf32>) -> tensor<?x8x?x4xf32> {
  %s1 = attn.scores %q1, %k1 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t1 = attn.scale %s1 by 0.5 : tensor<?x8x?x?xf32>
  %u10 = attn.mask %t1 where causal(top_left) : tensor<?x8x?x?xf32>
  %w1 = attn.softmax %u10 : tensor<?x8x?x?xf32>
  %s2 = attn.scores %q2, %k2 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t2 = attn.scale %s2 by 0.5 : tensor<?x8x?x?xf32>
  %u20 = attn.mask %t2 where causal(bottom_right) : tensor<?x8x?x?xf32>
  %w2 = attn.softmax %u20 : tensor<?x8x?x?xf32>
  // expected-remark @below {{not fused: the two maps have different masks, but attn.sdpa subtracts maps that have all but query and key in common}}
  %w = attn.subtract_weights %w1, %w2 by %l : tensor<?x8x?x?xf32>, tensor<8xf32>
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// -----

func.func @mask_operands(%q1: tensor<?x8x?x4xf32>, %k1: tensor<?x2x?x4xf32>, %q2: tensor<?x8x?x4xf32>, %k2: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x4xf32>, %l: tensor<8xf32>, %n: tensor<?xi32>, %m: tensor<?xi32>) -> tensor<?x8x?x4xf32> {
  %s1 = attn.scores %q1, %k1 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t1 = attn.scale %s1 by 0.5 : tensor<?x8x?x?xf32>
  %u10 = attn.mask %t1 where key_length(%n : tensor<?xi32>) : tensor<?x8x?x?xf32>
  %w1 = attn.softmax %u10 : tensor<?x8x?x?xf32>
  %s2 = attn.scores %q2, %k2 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t2 = attn.scale %s2 by 0.5 : tensor<?x8x?x?xf32>
  %u20 = attn.mask %t2 where key_length(%m : tensor<?xi32>) : tensor<?x8x?x?xf32>
  %w2 = attn.softmax %u20 : tensor<?x8x?x?xf32>
  // expected-remark @below {{not fused: the two maps have different masks, but attn.sdpa subtracts maps that have all but query and key in common}}
  %w = attn.subtract_weights %w1, %w2 by %l : tensor<?x8x?x?xf32>, tensor<8xf32>
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// -----

func.func @normalizations(%q1: tensor<?x8x?x4xf32>, %k1: tensor<?x2x?x4xf32>, %q2: tensor<?x8x?x4xf32>, %k2: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x4xf32>, %l: tensor<8xf32>) -> tensor<?x8x?x4xf32> {
  %s1 = attn.scores %q1, %k1 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t1 = attn.scale %s1 by 0.5 : tensor<?x8x?x?xf32>
  %w1 = attn.softmax %t1 : tensor<?x8x?x?xf32>
  %s2 = attn.scores %q2, %k2 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t2 = attn.scale %s2 by 0.5 : tensor<?x8x?x?xf32>
  %w2 = attn.sigmoid %t2 : tensor<?x8x?x?xf32>
  // expected-remark @below {{not fused: the two maps have different normalizations, but attn.sdpa subtracts maps that have all but query and key in common}}
  %w = attn.subtract_weights %w1, %w2 by %l : tensor<?x8x?x?xf32>, tensor<8xf32>
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// -----

func.func @sinks(%q1: tensor<?x8x?x4xf32>, %k1: tensor<?x2x?x4xf32>, %q2: tensor<?x8x?x4xf32>, %k2: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x4xf32>, %l: tensor<8xf32>, %sinks: tensor<8xf32>) -> tensor<?x8x?x4xf32> {
  %s1 = attn.scores %q1, %k1 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t1 = attn.scale %s1 by 0.5 : tensor<?x8x?x?xf32>
  %w1 = attn.softmax %t1 sinks %sinks : tensor<8xf32> : tensor<?x8x?x?xf32>
  %s2 = attn.scores %q2, %k2 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t2 = attn.scale %s2 by 0.5 : tensor<?x8x?x?xf32>
  %w2 = attn.softmax %t2 : tensor<?x8x?x?xf32>
  // expected-remark @below {{not fused: the two maps have different sinks, but attn.sdpa subtracts maps that have all but query and key in common}}
  %w = attn.subtract_weights %w1, %w2 by %l : tensor<?x8x?x?xf32>, tensor<8xf32>
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// -----

func.func @scores_used(%q1: tensor<?x8x?x4xf32>, %k1: tensor<?x2x?x4xf32>, %q2: tensor<?x8x?x4xf32>, %k2: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x4xf32>, %l: tensor<8xf32>) -> (tensor<?x8x?x4xf32>, tensor<?x8x?x?xf32>) {
  // expected-remark @below {{not fused: the result of attn.scores has other uses, but attn.sdpa with two maps returns out only}}
  %s1 = attn.scores %q1, %k1 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t1 = attn.scale %s1 by 0.5 : tensor<?x8x?x?xf32>
  %w1 = attn.softmax %t1 : tensor<?x8x?x?xf32>
  %s2 = attn.scores %q2, %k2 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t2 = attn.scale %s2 by 0.5 : tensor<?x8x?x?xf32>
  %w2 = attn.softmax %t2 : tensor<?x8x?x?xf32>
  %w = attn.subtract_weights %w1, %w2 by %l : tensor<?x8x?x?xf32>, tensor<8xf32>
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o, %s1 : tensor<?x8x?x4xf32>, tensor<?x8x?x?xf32>
}

// -----

func.func @weights_used(%q1: tensor<?x8x?x4xf32>, %k1: tensor<?x2x?x4xf32>, %q2: tensor<?x8x?x4xf32>, %k2: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x4xf32>, %l: tensor<8xf32>) -> (tensor<?x8x?x4xf32>, tensor<?x8x?x?xf32>) {
  %s1 = attn.scores %q1, %k1 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t1 = attn.scale %s1 by 0.5 : tensor<?x8x?x?xf32>
  %w1 = attn.softmax %t1 : tensor<?x8x?x?xf32>
  %s2 = attn.scores %q2, %k2 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t2 = attn.scale %s2 by 0.5 : tensor<?x8x?x?xf32>
  // expected-remark @below {{not fused: the result of attn.softmax has other uses, but attn.sdpa with two maps returns out only}}
  %w2 = attn.softmax %t2 : tensor<?x8x?x?xf32>
  %w = attn.subtract_weights %w1, %w2 by %l : tensor<?x8x?x?xf32>, tensor<8xf32>
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o, %w2 : tensor<?x8x?x4xf32>, tensor<?x8x?x?xf32>
}

// -----

func.func @difference_used(%q1: tensor<?x8x?x4xf32>, %k1: tensor<?x2x?x4xf32>, %q2: tensor<?x8x?x4xf32>, %k2: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x4xf32>, %l: tensor<8xf32>) -> (tensor<?x8x?x4xf32>, tensor<?x8x?x?xf32>) {
  %s1 = attn.scores %q1, %k1 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t1 = attn.scale %s1 by 0.5 : tensor<?x8x?x?xf32>
  %w1 = attn.softmax %t1 : tensor<?x8x?x?xf32>
  %s2 = attn.scores %q2, %k2 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t2 = attn.scale %s2 by 0.5 : tensor<?x8x?x?xf32>
  %w2 = attn.softmax %t2 : tensor<?x8x?x?xf32>
  // expected-remark @below {{not fused: the result of attn.subtract_weights has other uses, but attn.sdpa with two maps returns out only}}
  %w = attn.subtract_weights %w1, %w2 by %l : tensor<?x8x?x?xf32>, tensor<8xf32>
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o, %w : tensor<?x8x?x4xf32>, tensor<?x8x?x?xf32>
}

// -----

func.func @not_a_map(%q1: tensor<?x8x?x4xf32>, %k1: tensor<?x2x?x4xf32>, %q2: tensor<?x8x?x4xf32>, %k2: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x4xf32>, %l: tensor<8xf32>, %x: tensor<?x8x?x?xf32>) -> tensor<?x8x?x4xf32> {
  %s1 = attn.scores %q1, %k1 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t1 = attn.scale %s1 by 0.5 : tensor<?x8x?x?xf32>
  %w1 = attn.softmax %t1 : tensor<?x8x?x?xf32>
  %w = attn.subtract_weights %w1, %x by %l : tensor<?x8x?x?xf32>, tensor<8xf32>
  // expected-remark @below {{not fused: the weights come from an argument, not from attn.softmax or attn.sigmoid}}
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// -----

func.func @nested(%q1: tensor<?x8x?x4xf32>, %k1: tensor<?x2x?x4xf32>, %q2: tensor<?x8x?x4xf32>, %k2: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x4xf32>, %l: tensor<8xf32>) -> tensor<?x8x?x4xf32> {
  %s1 = attn.scores %q1, %k1 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t1 = attn.scale %s1 by 0.5 : tensor<?x8x?x?xf32>
  %w1 = attn.softmax %t1 : tensor<?x8x?x?xf32>
  %s2 = attn.scores %q2, %k2 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t2 = attn.scale %s2 by 0.5 : tensor<?x8x?x?xf32>
  %w2 = attn.softmax %t2 : tensor<?x8x?x?xf32>
  %x = attn.subtract_weights %w1, %w2 by %l : tensor<?x8x?x?xf32>, tensor<8xf32>
  %w = attn.subtract_weights %w1, %x by %l : tensor<?x8x?x?xf32>, tensor<8xf32>
  // expected-remark @below {{not fused: the weights come from attn.subtract_weights, not from attn.softmax or attn.sigmoid}}
  %o = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// -----

func.func @other_block(%q1: tensor<?x8x?x4xf32>, %k1: tensor<?x2x?x4xf32>, %q2: tensor<?x8x?x4xf32>, %k2: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x4xf32>, %l: tensor<8xf32>, %c: i1) -> tensor<?x8x?x4xf32> {
  %s1 = attn.scores %q1, %k1 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t1 = attn.scale %s1 by 0.5 : tensor<?x8x?x?xf32>
  %w1 = attn.softmax %t1 : tensor<?x8x?x?xf32>
  %s2 = attn.scores %q2, %k2 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x?xf32>
  %t2 = attn.scale %s2 by 0.5 : tensor<?x8x?x?xf32>
  %w2 = attn.softmax %t2 : tensor<?x8x?x?xf32>
  // expected-remark @below {{not fused: attn.subtract_weights stands in another block than attn.context}}
  %w = attn.subtract_weights %w1, %w2 by %l : tensor<?x8x?x?xf32>, tensor<8xf32>
  %o = scf.execute_region -> tensor<?x8x?x4xf32> {
    %p = attn.context %w, %v : (tensor<?x8x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
    scf.yield %p : tensor<?x8x?x4xf32>
  }
  return %o : tensor<?x8x?x4xf32>
}
