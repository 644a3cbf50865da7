// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// New keys and values behind those of a cache.
// sizes: B = 2, S = 3, P = 7, T = 10 | B = 1, S = 1, P = 60, T = 61
!new = tensor<$Bx2x$Sx16xf32>
!past = tensor<$Bx2x$Px16xf32>
!all = tensor<$Bx2x$Tx16xf32>
func.func @cache_concat(%q: !new, %k: !new, %v: !new, %pk: !past, %pv: !past) -> !new {
  %ak = tensor.concat dim(2) %pk, %k : (!past, !new) -> !all
  %av = tensor.concat dim(2) %pv, %v : (!past, !new) -> !all
  %out = attn.sdpa %q, %ak, %av scale 0.25 where causal(bottom_right) : (!new, !all, !all) -> !new
  return %out : !new
}
