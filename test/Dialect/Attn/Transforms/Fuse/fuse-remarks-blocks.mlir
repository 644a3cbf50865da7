// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps in different blocks: fusing would compute scores once per iteration.
// RUN: attn-opt %s --attn-fuse --split-input-file --verify-diagnostics --remarks-filter-missed=attn-fuse --remark-policy=all

func.func @context_in_loop(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %init: tensor<2x5xf32>, %a: index, %n: index, %d: index) -> tensor<2x5xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  // expected-remark @below {{not fused: attn.softmax stands in another block than attn.context}}
  %w = attn.softmax %s : tensor<2x3xf32>
  %r = scf.for %i = %a to %n step %d iter_args(%x = %init) -> tensor<2x5xf32> {
    %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
    scf.yield %o : tensor<2x5xf32>
  }
  return %r : tensor<2x5xf32>
}
