// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The attention mask of a tokenizer: 1 for a token, 0 for padding.
// sizes: B = 2, S = 6 | B = 3, S = 33
// mask: below 2
!x = tensor<$Bx4x$Sx16xf32>
!m = tensor<$Bx1x1x$Sxi64>
func.func @padding_mask(%q: !x, %k: !x, %v: !x, %mask: !m) -> !x {
  %none = arith.constant 0 : i64
  %empty = tensor.empty(@B, @S) : !m
  %zeros = linalg.fill ins(%none : i64) outs(%empty : !m) -> !m
  %seen = arith.cmpi ne, %mask, %zeros : !m
  %out = attn.sdpa %q, %k, %v scale 0.25 where %seen : tensor<$Bx1x1x$Sxi1> : (!x, !x, !x) -> !x
  return %out : !x
}
