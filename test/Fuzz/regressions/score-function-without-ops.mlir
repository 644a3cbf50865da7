// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --compile-to=llvm
func.func @score_mod_c1_rank_2(%s: tensor<?x?xf32>) {
  %r = attn.score_mod %s (%x: f32, %b, %h, %q, %k) {
  } : tensor<?x?xf32>
  return
}
