// RUN: attn-reference %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Partial states and sigmoid, with numbers that can be followed by hand.

// Scores are ln 1 .. ln 4 and values 1, 4, 9, 16: the state of the first half is m = ln 2, l = 3/2, acc = 1/2 + 4.
// CHECK-LABEL: @parts
// CHECK-NEXT: [0.693147181]
// CHECK-NEXT: [1.5]
// CHECK-NEXT: {{\[\[}}4.5]]
// CHECK-NEXT: {{\[\[}}10]]
// CHECK-NEXT: [2.30258509]
// CHECK-NEXT: {{\[\[}}10]]
func.func @parts() -> (tensor<1xf64>, tensor<1xf64>, tensor<1x1xf64>, tensor<1x1xf64>, tensor<1xf64>, tensor<1x1xf64>) {
  %q = arith.constant dense<[[1.0]]> : tensor<1x1xf64>
  %k1 = arith.constant dense<[[0.0], [0.6931471805599453]]> : tensor<2x1xf64>
  %k2 = arith.constant dense<[[1.0986122886681098], [1.3862943611198906]]> : tensor<2x1xf64>
  %v1 = arith.constant dense<[[1.0], [4.0]]> : tensor<2x1xf64>
  %v2 = arith.constant dense<[[9.0], [16.0]]> : tensor<2x1xf64>
  %o1, %m1, %l1, %a1 = attn.sdpa %q, %k1, %v1 scale 1.0 returning(out, state) : (tensor<1x1xf64>, tensor<2x1xf64>, tensor<2x1xf64>) -> (tensor<1x1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1x1xf64>)
  %o2, %m2, %l2, %a2 = attn.sdpa %q, %k2, %v2 scale 1.0 returning(out, state) : (tensor<1x1xf64>, tensor<2x1xf64>, tensor<2x1xf64>) -> (tensor<1x1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1x1xf64>)
  %m, %l, %a = attn.merge_states %m1, %l1, %a1 with %m2, %l2, %a2 : tensor<1xf64>, tensor<1x1xf64>
  %o, %e = attn.finalize_state %m, %l, %a : (tensor<1xf64>, tensor<1xf64>, tensor<1x1xf64>) -> (tensor<1x1xf64>, tensor<1xf64>)
  %n, %j, %b = attn.merge_states %m2, %l2, %a2 with %m1, %l1, %a1 : tensor<1xf64>, tensor<1x1xf64>
  %p = attn.finalize_state %n, %j, %b : (tensor<1xf64>, tensor<1xf64>, tensor<1x1xf64>) -> tensor<1x1xf64>
  return %m1, %l1, %a1, %o, %e, %p : tensor<1xf64>, tensor<1xf64>, tensor<1x1xf64>, tensor<1x1xf64>, tensor<1xf64>, tensor<1x1xf64>
}

// An empty row changes not even the sign of a 0; two empty rows give 0 and -inf; a NaN stays.
// CHECK-LABEL: @empty
// CHECK-NEXT: [2, 3, -inf, nan]
// CHECK-NEXT: [5, 7, 0, nan]
// CHECK-NEXT: {{\[\[}}-0, 1], [4, -0], [0, 0], [nan, nan]]
// CHECK-NEXT: {{\[\[}}-0, 0.2], [0.571428571, -0], [0, 0], [nan, nan]]
// CHECK-NEXT: [3.60943791, 4.94591015, -inf, nan]
func.func @empty() -> (tensor<4xf64>, tensor<4xf64>, tensor<4x2xf64>, tensor<4x2xf64>, tensor<4xf64>) {
  %m1 = arith.constant dense<[2.0, 0xFFF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000]> : tensor<4xf64>
  %l1 = arith.constant dense<[5.0, 0.0, 0.0, 0x7FF8000000000000]> : tensor<4xf64>
  %a1 = arith.constant dense<[[-0.0, 1.0], [0.0, 0.0], [0.0, 0.0], [0x7FF8000000000000, 0x7FF8000000000000]]> : tensor<4x2xf64>
  %m2 = arith.constant dense<[0xFFF0000000000000, 3.0, 0xFFF0000000000000, 3.0]> : tensor<4xf64>
  %l2 = arith.constant dense<[0.0, 7.0, 0.0, 7.0]> : tensor<4xf64>
  %a2 = arith.constant dense<[[0.0, 0.0], [4.0, -0.0], [0.0, 0.0], [4.0, 3.0]]> : tensor<4x2xf64>
  %m, %l, %a = attn.merge_states %m1, %l1, %a1 with %m2, %l2, %a2 : tensor<4xf64>, tensor<4x2xf64>
  %o, %e = attn.finalize_state %m, %l, %a : (tensor<4xf64>, tensor<4xf64>, tensor<4x2xf64>) -> (tensor<4x2xf64>, tensor<4xf64>)
  return %m, %l, %a, %o, %e : tensor<4xf64>, tensor<4xf64>, tensor<4x2xf64>, tensor<4x2xf64>, tensor<4xf64>
}

// Scores 0 and ln 3 weigh 1/2 and 3/4; the third key is excluded. As steps, as one op, and as tile ops.
// CHECK-LABEL: @sigmoid
// CHECK-NEXT: {{\[\[}}0.5, 0.75, 0]]
// CHECK-NEXT: {{\[\[}}80]]
// CHECK-NEXT: {{\[\[}}0.5, 0.75, 0]]
// CHECK-NEXT: {{\[\[}}80]]
// CHECK-NEXT: {{\[\[}}0.5, 0.75, 0]]
// CHECK-NEXT: {{\[\[}}80]]
func.func @sigmoid() -> (tensor<1x3xf64>, tensor<1x1xf64>, tensor<1x3xf64>, tensor<1x1xf64>, tensor<1x3xf64>, tensor<1x1xf64>) {
  %q = arith.constant dense<[[1.0]]> : tensor<1x1xf64>
  %k = arith.constant dense<[[0.0], [1.0986122886681098], [0x7FF8000000000000]]> : tensor<3x1xf64>
  %v = arith.constant dense<[[10.0], [100.0], [0x7FF8000000000000]]> : tensor<3x1xf64>
  %s = attn.scores %q, %k : (tensor<1x1xf64>, tensor<3x1xf64>) -> tensor<1x3xf64>
  %t = attn.mask %s where causal(offset = 1) : tensor<1x3xf64>
  %w = attn.sigmoid %t : tensor<1x3xf64>
  %o = attn.context %w, %v : (tensor<1x3xf64>, tensor<3x1xf64>) -> tensor<1x1xf64>
  %p, %x = attn.sdpa %q, %k, %v scale 1.0 where causal(offset = 1) returning(out, weights) {normalization = #attn<normalization sigmoid>}
      : (tensor<1x1xf64>, tensor<3x1xf64>, tensor<3x1xf64>) -> (tensor<1x1xf64>, tensor<1x3xf64>)
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %s0 = attn.init_state %q scale 1.0 {schedule = #attn.cpu_schedule<lanes = 1, rows = 1, vectors = 1, query_tile = 4, key_tile = 3, unroll = 1, prefetch = 0>} : tensor<1x1xf64> -> !attn.state<4 x 1 x 1, f64 by sigmoid>
  %s1 = attn.online %s0, %k, %v rows %c0 to %c1 keys from %c0 lengths %c1, %c3 where causal(offset = 1) mode edge
      {schedule = #attn.cpu_schedule<lanes = 1, rows = 1, vectors = 1, query_tile = 4, key_tile = 3, unroll = 1, prefetch = 0>} : !attn.state<4 x 1 x 1, f64 by sigmoid>, tensor<3x1xf64>, tensor<3x1xf64>
  %s2 = attn.merge %s0, %s1 {schedule = #attn.cpu_schedule<lanes = 1, rows = 1, vectors = 1, query_tile = 4, key_tile = 3, unroll = 1, prefetch = 0>} : !attn.state<4 x 1 x 1, f64 by sigmoid>
  %e = tensor.empty() : tensor<1x1xf64>
  %y = attn.finalize %s2 outs(%e : tensor<1x1xf64>) {schedule = #attn.cpu_schedule<lanes = 1, rows = 1, vectors = 1, query_tile = 4, key_tile = 3, unroll = 1, prefetch = 0>} : !attn.state<4 x 1 x 1, f64 by sigmoid> -> tensor<1x1xf64>
  %f = tensor.empty() : tensor<1x3xf64>
  %z = attn.weigh %s2, %k rows %c0 to %c1 keys from %c0 lengths %c1, %c3 scale 1.0 where causal(offset = 1) weights %f : tensor<1x3xf64>
      {schedule = #attn.cpu_schedule<lanes = 1, rows = 1, vectors = 1, query_tile = 4, key_tile = 3, unroll = 1, prefetch = 0>} : !attn.state<4 x 1 x 1, f64 by sigmoid>, tensor<3x1xf64> -> tensor<1x3xf64>
  return %w, %o, %x, %p, %z, %y : tensor<1x3xf64>, tensor<1x1xf64>, tensor<1x3xf64>, tensor<1x1xf64>, tensor<1x3xf64>, tensor<1x1xf64>
}
