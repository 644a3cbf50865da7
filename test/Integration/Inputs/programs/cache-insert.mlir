// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One new key and value are written into a cache, which is returned.
// sizes: B = 2, T = 8 | B = 1, T = 61
!new = tensor<$Bx2x1x16xf32>
!all = tensor<$Bx2x$Tx16xf32>
func.func @cache_insert(%q: !new, %k: !new, %v: !new, %ck: !all, %cv: !all) -> (!new, !all, !all) {
  %ak = tensor.insert_slice %k into %ck[0, 0, 4, 0] [@B, 2, 1, 16] [1, 1, 1, 1] : !new into !all
  %av = tensor.insert_slice %v into %cv[0, 0, 4, 0] [@B, 2, 1, 16] [1, 1, 1, 1] : !new into !all
  %out = attn.sdpa %q, %ak, %av scale 0.25 where causal(offset = 4) : (!new, !all, !all) -> !new
  return %out, %ak, %av : !new, !all, !all
}
