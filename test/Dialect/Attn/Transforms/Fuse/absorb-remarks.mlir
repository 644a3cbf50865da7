// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies that remain are remarks.
// RUN: attn-opt %s --attn-absorb-heads --split-input-file --verify-diagnostics --remarks-filter-missed=attn-absorb-heads --remark-policy=all

func.func @split(%x: tensor<2x5x64xf32>) -> tensor<2x4x5x16xf32> {
  // expected-remark @below {{attn.split_heads copies: its heads are read by an op other than attn.sdpa}}
  %q = attn.split_heads %x into 4 : tensor<2x5x64xf32> -> tensor<2x4x5x16xf32>
  return %q : tensor<2x4x5x16xf32>
}

// -----

func.func @merge(%o: tensor<2x4x5x16xf32>) -> tensor<2x5x64xf32> {
  // expected-remark @below {{attn.merge_heads copies: its heads are not the context of an attn.sdpa}}
  %y = attn.merge_heads %o : tensor<2x4x5x16xf32> -> tensor<2x5x64xf32>
  return %y : tensor<2x5x64xf32>
}

// -----

func.func @other_use(%q: tensor<2x4x5x16xf32>) -> (tensor<2x4x5x16xf32>, tensor<2x5x64xf32>) {
  %o = attn.sdpa %q, %q, %q scale 1.0 : (tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>) -> tensor<2x4x5x16xf32>
  // expected-remark @below {{attn.merge_heads copies: the heads have other uses}}
  %y = attn.merge_heads %o : tensor<2x4x5x16xf32> -> tensor<2x5x64xf32>
  return %o, %y : tensor<2x4x5x16xf32>, tensor<2x5x64xf32>
}

// -----

func.func @none(%x: tensor<2x5x64xf32>) -> tensor<2x5x64xf32> {
  %q = attn.split_heads %x into 4 : tensor<2x5x64xf32> -> tensor<2x4x5x16xf32>
  %o = attn.sdpa %q, %q, %q scale 1.0 : (tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>) -> tensor<2x4x5x16xf32>
  %y = attn.merge_heads %o : tensor<2x4x5x16xf32> -> tensor<2x5x64xf32>
  return %y : tensor<2x5x64xf32>
}

// -----

func.func @with_state(%q: tensor<2x5x4xf32>) -> (tensor<5x8xf32>, tensor<2x5x4xf32>) {
  %r:4 = attn.sdpa %q, %q, %q scale 0.5 returning(out, state) : (tensor<2x5x4xf32>, tensor<2x5x4xf32>, tensor<2x5x4xf32>) -> (tensor<2x5x4xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5x4xf32>)
  // expected-remark @below {{attn.merge_heads copies: the attn.sdpa also returns its state, which has the layout of the context}}
  %j = attn.merge_heads %r#0 : tensor<2x5x4xf32> -> tensor<5x8xf32>
  return %j, %r#3 : tensor<5x8xf32>, tensor<2x5x4xf32>
}
