// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All tensors of both states have the same rows; the state of an attention has those of its query.
// RUN: attn-opt %s --attn-describe-ports | FileCheck %s

// CHECK-LABEL: @merge
// CHECK-SAME: #attn.port<"arg0", input [8, arg01]
// CHECK-SAME: #attn.port<"arg1", input [8, arg01, arg12]
// CHECK-SAME: #attn.port<"arg2", input [8, arg01]
// CHECK-SAME: #attn.port<"arg3", input [8, arg01, arg12]
// CHECK-SAME: #attn.port<"out0", output [8, arg01]
// CHECK-SAME: #attn.port<"out1", output [8, arg01, arg12]
// CHECK-SAME: #attn.port<"out2", output [8, arg01, arg12]
func.func @merge(%m: tensor<8x?xf32>, %a: tensor<8x?x?xf32>, %n: tensor<8x?xf32>, %b: tensor<8x?x?xf32>) -> (tensor<8x?xf32>, tensor<8x?x?xf32>, tensor<8x?x?xf16>) {
  %r:3 = attn.merge_states %m, %m, %a with %n, %n, %b : tensor<8x?xf32>, tensor<8x?x?xf32>
  %o = attn.finalize_state %r#0, %r#1, %r#2 : (tensor<8x?xf32>, tensor<8x?xf32>, tensor<8x?x?xf32>) -> tensor<8x?x?xf16>
  return %r#0, %r#2, %o : tensor<8x?xf32>, tensor<8x?x?xf32>, tensor<8x?x?xf16>
}

// CHECK-LABEL: @attention
// CHECK-SAME: #attn.port<"out0", output [arg00, 8, arg02]
// CHECK-SAME: #attn.port<"out1", output [arg00, arg02, 8, 64]
func.func @attention(%q: tensor<?x8x?x64xf32>, %k: tensor<?x8x?x64xf32>) -> (tensor<?x8x?xf32>, tensor<?x?x8x64xf32>) {
  %r:4 = attn.sdpa %q, %k, %k scale 0.125 returning(out, state) {out_layout = #attn<layout bshd>}
      : (tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>) -> (tensor<?x?x8x64xf32>, tensor<?x8x?xf32>, tensor<?x8x?xf32>, tensor<?x?x8x64xf32>)
  return %r#1, %r#3 : tensor<?x8x?xf32>, tensor<?x?x8x64xf32>
}
