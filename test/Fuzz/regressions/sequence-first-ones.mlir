// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --emit=obj
// Every other feature, sizes of 1.
!q = tensor<?x?x1x8xf32>
!k = tensor<?x?x1x8xf32>
!wide = tensor<?x?x1x16xf32>
func.func @sequence_first_ones(%q: !q, %x: !wide, %v: !k) -> !q {
  %B_axis = arith.constant 0 : index
  %B = tensor.dim %q, %B_axis : tensor<?x?x1x8xf32>
  %T_axis = arith.constant 1 : index
  %T = tensor.dim %x, %T_axis : tensor<?x?x1x16xf32>
  %k = tensor.extract_slice %x[0, 0, 0, 0] [%B, %T, 1, 8] [1, 1, 1, 2] : !wide to !k
  %out = attn.sdpa %q, %k, %v scale 0.35
      {query_layout = #attn<layout bshd>, key_layout = #attn<layout bshd>, value_layout = #attn<layout bshd>, out_layout = #attn<layout bshd>}
      : (!q, !k, !k) -> !q
  return %out : !q
}
