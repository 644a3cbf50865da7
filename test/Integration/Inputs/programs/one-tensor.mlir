// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One tensor is queries, keys and values.
// sizes: B = 2, S = 6 | B = 1, S = 1 | B = 1, S = 70
!x = tensor<$Bx2x$Sx16xf32>
func.func @one_tensor(%x: !x) -> !x {
  %out = attn.sdpa %x, %x, %x scale 0.25 : (!x, !x, !x) -> !x
  return %out : !x
}
