// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
func.func @attention(%q: tensor<?x1x?x64xf16>, %k: tensor<?x1x?x64xf16>, %v: tensor<?x1x?x64xf16>) -> (tensor<?x1x?x64xf16>, tensor<?x1x?xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.125 where causal(top_left) returning(out, lse) : (tensor<?x1x?x64xf16>, tensor<?x1x?x64xf16>, tensor<?x1x?x64xf16>) -> (tensor<?x1x?x64xf16>, tensor<?x1x?xf32>)
  return %out, %lse : tensor<?x1x?x64xf16>, tensor<?x1x?xf32>
}

func.func @rows(%x: tensor<?x48xf16>, %w: tensor<48xf16>) -> tensor<?x48xf16> {
  %s = math.exp %x : tensor<?x48xf16>
  %out = attn.rms_norm %s, %w eps 1.0e-5 : tensor<?x48xf16>, tensor<48xf16>
  return %out : tensor<?x48xf16>
}
