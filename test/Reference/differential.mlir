// RUN: attn-reference %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Differential attention with numbers that can be followed by hand.

// Head 0: scores ln 1, ln 3 weigh 1/4, 3/4, and scores 0, 0 weigh 1/2, 1/2; less a quarter of those, 1/8 and 5/8 of the values 8 and 16
// make 11. Head 1 has lambda 1: -1/4 and 1/4. The third key, a NaN, is excluded. As steps, as one op, and head 0 as tile ops.
// CHECK-LABEL: @heads
// CHECK-NEXT: {{\[\[\[}}0.125, 0.625, 0]], {{\[\[}}-0.25, 0.25, 0]]]
// CHECK-NEXT: {{\[\[\[}}11]], {{\[\[}}2]]]
// CHECK-NEXT: {{\[\[\[}}11]], {{\[\[}}2]]]
// CHECK-NEXT: {{\[\[}}11]]
#schedule = #attn.cpu_schedule<lanes = 1, rows = 1, vectors = 1, query_tile = 4, key_tile = 2, unroll = 1, prefetch = 0>
!state = !attn.state<4 x 1 x 1, f64>
func.func @heads() -> (tensor<2x1x3xf64>, tensor<2x1x1xf64>, tensor<2x1x1xf64>, tensor<1x1xf64>) {
  %q = arith.constant dense<1.0> : tensor<2x1x1xf64>
  %k1 = arith.constant dense<[[[0.0], [1.0986122886681098], [0x7FF8000000000000]]]> : tensor<1x3x1xf64>
  %k2 = arith.constant dense<[[[0.0], [0.0], [0x7FF8000000000000]]]> : tensor<1x3x1xf64>
  %v = arith.constant dense<[[[8.0], [16.0], [0x7FF8000000000000]]]> : tensor<1x3x1xf64>
  %lambda = arith.constant dense<[0.25, 1.0]> : tensor<2xf64>
  %s1 = attn.scores %q, %k1 : (tensor<2x1x1xf64>, tensor<1x3x1xf64>) -> tensor<2x1x3xf64>
  %m1 = attn.mask %s1 where causal(offset = 1) : tensor<2x1x3xf64>
  %w1 = attn.softmax %m1 : tensor<2x1x3xf64>
  %s2 = attn.scores %q, %k2 : (tensor<2x1x1xf64>, tensor<1x3x1xf64>) -> tensor<2x1x3xf64>
  %m2 = attn.mask %s2 where causal(offset = 1) : tensor<2x1x3xf64>
  %w2 = attn.softmax %m2 : tensor<2x1x3xf64>
  %w = attn.subtract_weights %w1, %w2 by %lambda : tensor<2x1x3xf64>, tensor<2xf64>
  %a = attn.context %w, %v : (tensor<2x1x3xf64>, tensor<1x3x1xf64>) -> tensor<2x1x1xf64>
  %b = attn.sdpa %q, %k1, %v minus %q, %k2 by %lambda : tensor<2xf64> scale 1.0 where causal(offset = 1)
      : (tensor<2x1x1xf64>, tensor<1x3x1xf64>, tensor<1x3x1xf64>) -> tensor<2x1x1xf64>
  %tq = arith.constant dense<1.0> : tensor<1x1xf64>
  %tk1 = arith.constant dense<[[0.0], [1.0986122886681098]]> : tensor<2x1xf64>
  %tk2 = arith.constant dense<0.0> : tensor<2x1xf64>
  %tv = arith.constant dense<[[8.0], [16.0]]> : tensor<2x1xf64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %i1 = attn.init_state %tq scale 1.0 {schedule = #schedule} : tensor<1x1xf64> -> !state
  %i2 = attn.init_state %tq scale 1.0 {schedule = #schedule} : tensor<1x1xf64> -> !state
  %n:2 = attn.online %i1, %tk1, %tv rows %c0 to %c1 keys from %c0 lengths %c1, %c2 mode full second %i2, %tk2 : !state, tensor<2x1xf64>
      {schedule = #schedule} : !state, tensor<2x1xf64>, tensor<2x1xf64>
  %quarter = arith.constant 0.25 : f64
  %empty = tensor.empty() : tensor<1x1xf64>
  %c = attn.finalize_difference %n#0, %n#1 by %quarter outs(%empty : tensor<1x1xf64>) {schedule = #schedule} : !state, f64 -> tensor<1x1xf64>
  return %w, %a, %b, %c : tensor<2x1x3xf64>, tensor<2x1x1xf64>, tensor<2x1x1xf64>, tensor<1x1xf64>
}

// Query 0 sees no key, query 1 one key: lambda is infinite, and 1 - inf * 1 remains. By sigmoid, a score of 0 weighs 1/2.
// CHECK-LABEL: @infinite
// CHECK-NEXT: {{\[\[}}0], [-inf]]
// CHECK-NEXT: {{\[\[}}0], [-inf]]
// CHECK-NEXT: {{\[\[}}0], [-3.5]]
func.func @infinite() -> (tensor<2x1xf64>, tensor<2x1xf64>, tensor<2x1xf64>) {
  %q = arith.constant dense<0.0> : tensor<2x1xf64>
  %k = arith.constant dense<0.0> : tensor<1x1xf64>
  %v = arith.constant dense<7.0> : tensor<1x1xf64>
  %inf = arith.constant dense<0x7FF0000000000000> : tensor<f64>
  %two = arith.constant dense<2.0> : tensor<1xf64>
  %s = attn.scores %q, %k : (tensor<2x1xf64>, tensor<1x1xf64>) -> tensor<2x1xf64>
  %m = attn.mask %s where causal(offset = -1) : tensor<2x1xf64>
  %w = attn.softmax %m : tensor<2x1xf64>
  %x = attn.subtract_weights %w, %w by %inf : tensor<2x1xf64>, tensor<f64>
  %a = attn.context %x, %v : (tensor<2x1xf64>, tensor<1x1xf64>) -> tensor<2x1xf64>
  %b = attn.sdpa %q, %k, %v minus %q, %k by %inf : tensor<f64> scale 1.0 where causal(offset = -1) : (tensor<2x1xf64>, tensor<1x1xf64>, tensor<1x1xf64>) -> tensor<2x1xf64>
  %c = attn.sdpa %q, %k, %v minus %q, %k by %two : tensor<1xf64> scale 1.0 where causal(offset = -1) {normalization = #attn<normalization sigmoid>}
      : (tensor<2x1xf64>, tensor<1x1xf64>, tensor<1x1xf64>) -> tensor<2x1xf64>
  return %a, %b, %c : tensor<2x1xf64>, tensor<2x1xf64>, tensor<2x1xf64>
}
