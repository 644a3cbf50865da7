// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --emit=obj
// Every other feature, and a residual.
!q = tensor<7x8xf32>
!k = tensor<9x8xf32>
func.func @strided_keys(%q: !q, %x: tensor<9x16xf32>, %v: !k) -> !q {
  %k = tensor.extract_slice %x[0, 0] [9, 8] [1, 2] : tensor<9x16xf32> to !k
  %out = attn.sdpa %q, %k, %v scale 0.35 : (!q, !k, !k) -> !q
  %out_more = arith.mulf %out, %q : !q
  return %out_more : !q
}
