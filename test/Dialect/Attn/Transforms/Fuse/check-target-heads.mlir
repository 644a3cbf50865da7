// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Splits and merges belong to attn-absorb-heads.
// RUN: attn-opt %s --attn-check-target --split-input-file --verify-diagnostics

func.func @split(%x: tensor<2x5x64xf32>) -> tensor<2x4x5x16xf32> {
  // expected-error @below {{'attn.split_heads' op is left; run attn-absorb-heads before attn-check-target}}
  %q = attn.split_heads %x into 4 : tensor<2x5x64xf32> -> tensor<2x4x5x16xf32>
  return %q : tensor<2x4x5x16xf32>
}

// -----

func.func @merge(%o: tensor<2x4x5x16xf32>) -> tensor<2x5x64xf32> {
  // expected-error @below {{'attn.merge_heads' op is left}}
  %y = attn.merge_heads %o : tensor<2x4x5x16xf32> -> tensor<2x5x64xf32>
  return %y : tensor<2x5x64xf32>
}
