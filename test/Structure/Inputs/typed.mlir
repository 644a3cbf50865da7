// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TYPE and WIDE, the type of its statistics, are replaced.
func.func @typed(%q: tensor<2x?x64xTYPE>, %k: tensor<2x?x64xTYPE>, %v: tensor<2x?x64xTYPE>) -> (tensor<2x?x64xTYPE>, tensor<2x?xWIDE>) {
  %o, %l = attn.sdpa %q, %k, %v scale 0.125 where causal(top_left) returning(out, lse)
      : (tensor<2x?x64xTYPE>, tensor<2x?x64xTYPE>, tensor<2x?x64xTYPE>) -> (tensor<2x?x64xTYPE>, tensor<2x?xWIDE>)
  return %o, %l : tensor<2x?x64xTYPE>, tensor<2x?xWIDE>
}
