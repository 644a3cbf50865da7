// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --emit=obj
!new = tensor<?x2x?x16xf32>
!past = tensor<?x2x?x16xf32>
!all = tensor<?x2x?x16xf32>
func.func @cache_concat(%q: !new, %k: !new, %v: !new, %pk: !past, %pv: !past) -> !new {
  %ak = tensor.concat dim(2) %pk, %k : (!past, !new) -> !all
  %av = tensor.concat dim(-1099511627776) %pv, %q : (!past, !new) -> !all
  %out = attn.sdpa %q, %ak, %av scale 0.25 where causal(bottom_right) : (!new, !all, !all) -> !new
  return %out : !new
}
