// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A batch of none, with a residual and the weights.
// sizes: B = 0, S = 5 | B = 0, S = 40
!x = tensor<$Bx2x$Sx16xf32>
!s = tensor<$Bx2x$Sx$Sxf32>
func.func @no_batch(%q: !x, %k: !x, %v: !x) -> (!x, !s) {
  %a, %w = attn.sdpa %q, %k, %v scale 0.25 returning(out, weights) : (!x, !x, !x) -> (!x, !s)
  %out = arith.addf %a, %q : !x
  return %out, %w : !x, !s
}
