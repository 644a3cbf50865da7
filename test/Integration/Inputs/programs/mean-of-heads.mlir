// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mean of the heads, summed by a reduction.
// sizes: S = 6 | S = 35
!x = tensor<4x$Sx16xf32>
!m = tensor<$Sx16xf32>
func.func @mean_of_heads(%x: !x) -> !m {
  %a = attn.sdpa %x, %x, %x scale 0.25 : (!x, !x, !x) -> !x
  %zero = arith.constant 0.0 : f32
  %quarter = arith.constant 0.25 : f32
  %empty = tensor.empty(@S) : !m
  %start = linalg.fill ins(%zero : f32) outs(%empty : !m) -> !m
  %sum = linalg.reduce ins(%a : !x) outs(%start : !m) dimensions = [0]
    (%in: f32, %acc: f32) {
      %y = arith.addf %in, %acc : f32
      linalg.yield %y : f32
    }
  %scale = linalg.fill ins(%quarter : f32) outs(%empty : !m) -> !m
  %out = arith.mulf %sum, %scale : !m
  return %out : !m
}
