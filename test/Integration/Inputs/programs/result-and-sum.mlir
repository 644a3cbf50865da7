// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The context is a result, and so are sums of it: none may lie where another does.
// sizes: B = 2, S = 5, T = 7 | B = 1, S = 33, T = 20 | B = 3, S = 1, T = 1
!q = tensor<$Bx4x$Sx16xf32>
!k = tensor<$Bx4x$Tx16xf32>
func.func @result_and_sum(%q: !q, %k: !k, %v: !k) -> (!q, !q, !q) {
  %out = attn.sdpa %q, %k, %v scale 0.25 : (!q, !k, !k) -> !q
  %sum = arith.addf %out, %q : !q
  %product = arith.mulf %out, %sum : !q
  return %sum, %product, %out : !q, !q, !q
}
