// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --emit=obj
!q = tensor<?x2x8x16xf32>
!k = tensor<?x2x?x16xf32>
!r = tensor<?x2x?xf32>
func.func @merged_states(%q: !q, %pk: !k, %pv: !k) -> (!q, !r) {
  %o1, %m1, %l1, %a1 = attn.sdpa %q, %pk, %pv scale 0.25 returning(out, state) : (!q, !k, !k) -> (!q, !r, !r, !q)
  %o2, %m2, %l2, %a2 = attn.sdpa %q, %q, %q scale 0.25 where causal(top_left) returning(out, state) : (!q, !q, !q) -> (!q, !r, !r, !q)
  %m, %l, %a = attn.merge_states %m1, %l1, %a1 with %m2, %l2, %a2 : !r, !q
  %o, %lse = attn.finalize_state %m, %l, %a : (!r, !r, !q) -> (!q, !r)
  %out = arith.addf %o, %q : !q
  return %out, %lse : !q, !r
}
