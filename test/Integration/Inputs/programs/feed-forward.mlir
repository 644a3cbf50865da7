// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention, then a feed-forward part with GELU written as a linalg.generic.
// sizes: S = 6 | S = 37
// w1: times 0.2
// w2: times 0.2
!x = tensor<$Sx16xf32>
!h = tensor<$Sx32xf32>
#map = affine_map<(i, j) -> (i, j)>
func.func @feed_forward(%x: !x, %w1: tensor<16x32xf32>, %w2: tensor<32x16xf32>) -> !x {
  %a = attn.sdpa %x, %x, %x scale 0.25 : (!x, !x, !x) -> !x
  %b = arith.addf %x, %a : !x
  %h = attn.project %b, %w1 : (!x, tensor<16x32xf32>) -> !h
  %empty = tensor.empty(@S) : !h
  %g = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%h : !h) outs(%empty : !h) {
  ^bb0(%y: f32, %old: f32):
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %root = arith.constant 0.70710678 : f32
    %z = arith.mulf %y, %root : f32
    %e = math.erf %z : f32
    %f = arith.addf %e, %one : f32
    %p = arith.mulf %y, %half : f32
    %r = arith.mulf %p, %f : f32
    linalg.yield %r : f32
  } -> !h
  %o = attn.project %g, %w2 : (!h, tensor<32x16xf32>) -> !x
  %out = arith.addf %b, %o : !x
  return %out : !x
}
