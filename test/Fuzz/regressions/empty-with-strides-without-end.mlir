// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --compile-to=llvm
!x = tensor<0x9223372036854775807x5x16xf32>
!s = tensor<0x9223372036854775807x5x5xf32>
func.func @no_batch(%q: !x, %k: !x, %v: !x) -> (!x, !s) {
  %a, %w = attn.sdpa %q, %k, %v scale 0.25 returning(out, weights) : (!x, !x, !x) -> (!x, !s)
  %out = arith.addf %a, %q : !x
  return %out, %w : !x, !s
}
