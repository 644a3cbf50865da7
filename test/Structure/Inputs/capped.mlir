// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scores that a learning attention caps.
func.func @capped(%q: tensor<?x2x?x64xf32> {attn.gradient}, %k: tensor<?x2x?x64xf32>, %v: tensor<?x2x?x64xf32>) -> tensor<?x2x?x64xf32> {
  %out = attn.sdpa %q, %k, %v scale 0.125 score_mod (%s: f32, %b, %h, %i, %j) {
    %c = arith.constant 20.0 : f32
    %inverse = arith.constant 0.05 : f32
    %a = arith.mulf %s, %inverse : f32
    %t = math.tanh %a : f32
    %y = arith.mulf %t, %c : f32
    attn.yield %y : f32
  } : (tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>) -> tensor<?x2x?x64xf32>
  return %out : tensor<?x2x?x64xf32>
}
