// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --emit=obj
!x = tensor<7x2x?x16xf32>
!s = tensor<?x2x?x?xf32>
func.func @f(%q: !x, %k: !x, %v: !x) -> (!x, !s) {
  %a, %w = attn.sdpa %q, %k, %v scale 0.25 returning(out, weights) : (!x, !x, !x) -> (!x, !s)
  %out = arith.addf %a, %q : !x
  return %out, %w : !x, !s
}
