// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two layers' norms around an attention of one head, each with a residual; what stands between is a result, too.
// sizes: S = 5 | S = 1 | S = 65
!x = tensor<$Sx24xf32>
!w = tensor<24xf32>
func.func @layer_norm_chain(%x: !x, %g: !w, %b: !w) -> (!x, !x) {
  %n = attn.layer_norm %x, %g, %b eps 1.0e-5 : !x, !w, !w
  %a = attn.sdpa %n, %n, %n scale 0.2 where causal(top_left) : (!x, !x, !x) -> !x
  %r = arith.addf %x, %a : !x
  %m = attn.layer_norm %r, %g eps 1.0e-5 : !x, !w
  %out = arith.addf %m, %r : !x
  return %r, %out : !x, !x
}
