// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A state without features: only lse is left.
// sizes: S = 5 | S = 40
!r = tensor<$Sxf32>
!x = tensor<$Sx0xf32>
func.func @no_features_state(%m: !r, %l: !r, %a: !x) -> (!x, !r) {
  %p = math.absf %l : !r
  %out, %lse = attn.finalize_state %m, %p, %a : (!r, !r, !x) -> (!x, !r)
  return %out, %lse : !x, !r
}
