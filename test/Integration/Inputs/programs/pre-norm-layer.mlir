// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A decoder layer without its feed-forward part: norm, projections, attention, projection, residual.
// sizes: B = 2, S = 5 | B = 1, S = 37
// wq: times 0.2
// wk: times 0.2
// wv: times 0.2
// wo: times 0.2
!x = tensor<$Bx$Sx32xf32>
!h = tensor<$Bx4x$Sx8xf32>
!w = tensor<32x32xf32>
func.func @pre_norm_layer(%x: !x, %g: tensor<32xf32>, %wq: !w, %wk: !w, %wv: !w, %wo: !w) -> !x {
  %n = attn.rms_norm %x, %g eps 1.0e-5 : !x, tensor<32xf32>
  %pq = attn.project %n, %wq : (!x, !w) -> !x
  %pk = attn.project %n, %wk : (!x, !w) -> !x
  %pv = attn.project %n, %wv : (!x, !w) -> !x
  %q = attn.split_heads %pq into 4 : !x -> !h
  %k = attn.split_heads %pk into 4 : !x -> !h
  %v = attn.split_heads %pv into 4 : !x -> !h
  %a = attn.sdpa %q, %k, %v scale 0.35 where causal(top_left) : (!h, !h, !h) -> !h
  %joined = attn.merge_heads %a : !h -> !x
  %o = attn.project %joined, %wo : (!x, !w) -> !x
  %out = arith.addf %x, %o : !x
  return %out : !x
}
