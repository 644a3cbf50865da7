// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --emit=exe --target=x86-64-v4
!new = tensor<?x2x?x16xf32>
!past = tensor<?x2x?x16xf32>
!all = tensor<?x2x?x16xf32>
func.func @cache_concat(%q: !new, %k: !new, %v: !new, %pk: !past, %pv: !past) -> !new {
  %ak = tensor.concat dim(2) %pk, %k : (!past, !new) -> !all
  %ak_new4 = math.fma %ak, %ak, %ak : !all
  %av = tensor.concat dim(2) %pv, %v : (!past, !new) -> !all
  %out = attn.sdpa %q, %ak_new4, %av scale 0.25 where causal(bottom_right) : (!new, !all, !all) -> !new
  %out_more = arith.mulf %out, %v : !new
  return %out_more : !new
}
