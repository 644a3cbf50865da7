// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queries, keys and values are slices of one tensor, as one projection makes them.
// sizes: B = 2, S = 5 | B = 1, S = 66
!x = tensor<$Bx$Sx4x8xf32>
!all = tensor<$Bx$Sx12x8xf32>
func.func @packed_projections(%qkv: !all) -> !x {
  %q = tensor.extract_slice %qkv[0, 0, 0, 0] [@B, @S, 4, 8] [1, 1, 1, 1] : !all to !x
  %k = tensor.extract_slice %qkv[0, 0, 4, 0] [@B, @S, 4, 8] [1, 1, 1, 1] : !all to !x
  %v = tensor.extract_slice %qkv[0, 0, 8, 0] [@B, @S, 4, 8] [1, 1, 1, 1] : !all to !x
  %out = attn.sdpa %q, %k, %v scale 0.35 where causal(top_left)
      {query_layout = #attn<layout bshd>, key_layout = #attn<layout bshd>, value_layout = #attn<layout bshd>, out_layout = #attn<layout bshd>}
      : (!x, !x, !x) -> !x
  return %out : !x
}
