// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --emit=obj
func.func @state(%q: tensor<17x64xf32>, %k: tensor<?x64xf32>) -> tensor<17x64xf32> {
  %r:4 = attn.sdpa %q, %k, %k scale 0.125 returning(out, state) : (tensor<17x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) -> (tensor<17x64xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17x64xf32>)
  return %r#3 : tensor<17x64xf32>
}
