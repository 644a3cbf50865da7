// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the target runs: unknown batch and lengths, groups of heads, layouts, masks, other dialects.
// RUN: attn-opt %s --attn-check-target | FileCheck %s

// CHECK-LABEL: @dynamic(
func.func @dynamic(%q: tensor<?x8x?x64xf32>, %k: tensor<?x2x?x64xf32>, %v: tensor<?x2x?x128xf32>) -> tensor<?x8x?x128xf32> {
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x128xf32>) -> tensor<?x8x?x128xf32>
  return %o : tensor<?x8x?x128xf32>
}

// CHECK-LABEL: @rank2(
func.func @rank2(%q: tensor<?x1024xf32>, %k: tensor<?x1024xf32>, %v: tensor<?x1xf32>) -> tensor<?x1xf32> {
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<?x1024xf32>, tensor<?x1024xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  return %o : tensor<?x1xf32>
}

// CHECK-LABEL: @sequence_first(
func.func @sequence_first(%q: tensor<?x?x8x64xf32>) -> tensor<?x?x8x64xf32> {
  %o = attn.sdpa %q, %q, %q scale 1.0 where causal(top_left) {query_layout = #attn<layout bshd>, key_layout = #attn<layout bshd>, value_layout = #attn<layout bshd>, out_layout = #attn<layout bshd>} : (tensor<?x?x8x64xf32>, tensor<?x?x8x64xf32>, tensor<?x?x8x64xf32>) -> tensor<?x?x8x64xf32>
  return %o : tensor<?x?x8x64xf32>
}

// CHECK-LABEL: @other_dialects(
func.func @other_dialects(%x: tensor<?xf64>) -> tensor<?xf64> {
  %y = arith.addf %x, %x : tensor<?xf64>
  return %y : tensor<?xf64>
}
