// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys are normalized behind the concatenation with those of a cache, twice.
// sizes: B = 2, S = 3, P = 7, N = 2, T = 10, U = 12 | B = 1, S = 1, P = 60, N = 1, T = 61, U = 62
!new = tensor<$Bx2x$Sx16xf32>
!past = tensor<$Bx2x$Px16xf32>
!more = tensor<$Bx2x$Nx16xf32>
!some = tensor<$Bx2x$Tx16xf32>
!all = tensor<$Bx2x$Ux16xf32>
func.func @cache_concat_normalized(%q: !new, %k: !new, %v: !new, %pk: !past, %pv: !past, %mk: !more, %mv: !more, %w: tensor<16xf32>) -> !new {
  %some_keys = tensor.concat dim(2) %pk, %k : (!past, !new) -> !some
  %doubled = arith.addf %some_keys, %some_keys : !some
  %all_keys = tensor.concat dim(2) %doubled, %mk : (!some, !more) -> !all
  %normal = attn.rms_norm %all_keys, %w eps 1.0e-5 : !all, tensor<16xf32>
  %some_values = tensor.concat dim(2) %pv, %v : (!past, !new) -> !some
  %all_values = tensor.concat dim(2) %some_values, %mv : (!some, !more) -> !all
  %out = attn.sdpa %q, %normal, %all_values scale 0.25 where causal(bottom_right) : (!new, !all, !all) -> !new
  return %out : !new
}
