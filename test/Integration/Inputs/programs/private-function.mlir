// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A helper that is called twice.
// sizes: B = 2, S = 6 | B = 1, S = 35
!x = tensor<$Bx2x$Sx16xf32>
func.func private @attend(%q: !x, %kv: !x) -> !x {
  %out = attn.sdpa %q, %kv, %kv scale 0.25 : (!x, !x, !x) -> !x
  return %out : !x
}
func.func @private_function(%x: !x, %y: !x) -> !x {
  %a = func.call @attend(%x, %y) : (!x, !x) -> !x
  %b = func.call @attend(%a, %y) : (!x, !x) -> !x
  return %b : !x
}
