// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --emit=asm --target=sapphirerapids
func.func @rms_norm(%q: tensor<?x8x?x64xf32>, %w: tensor<64xf32>) -> tensor<?x8x?x64xf32> {
  %w_new0 = attn.scale %w by 0.5 : tensor<64xf32>
  %normal = attn.rms_norm %q, %w_new0 eps 1.0e-6 : tensor<?x8x?x64xf32>, tensor<64xf32>
  return %normal : tensor<?x8x?x64xf32>
}
