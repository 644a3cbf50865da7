// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What regions capture, and the tables of rope, must have an element where there is a query (or a row to rotate), each reader
// once. A table whose size is known needs no such rule.
// RUN: attn-opt %s --attn-describe-ports --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK: #attn.port<"q", input [
// CHECK-SAME: #attn.port<"k", input [
// CHECK-SAME: #attn.port<"cos", input [{{[^>]*}}>, not_empty {{\[\[}}q0, q2], [q0, k2]]
// CHECK-SAME: #attn.port<"sin", input [{{[^>]*}}>, not_empty {{\[\[}}q0, q2], [q0, k2]]
// CHECK-SAME: #attn.port<"slopes", input [{{[^>]*}}>, not_empty {{\[\[}}q0, q2]]
// CHECK-SAME: #attn.port<"known", input [
func.func @f(%q: tensor<?x4x?x8xf32> {attn.name = "q"}, %k: tensor<?x4x?x8xf32> {attn.name = "k"}, %cos: tensor<?x4xf32> {attn.name = "cos"},
    %sin: tensor<?x4xf32> {attn.name = "sin"}, %slopes: tensor<?xf32> {attn.name = "slopes"}, %known: tensor<3xf32> {attn.name = "known"}) -> tensor<?x4x?x8xf32> {
  %x = attn.rope %q, %cos, %sin : tensor<?x4x?x8xf32>, tensor<?x4xf32>
  %y = attn.rope %k, %cos, %sin : tensor<?x4x?x8xf32>, tensor<?x4xf32>
  %s = attn.scores %x, %y : (tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>) -> tensor<?x4x?x?xf32>
  %m = attn.score_mod %s (%score: f32, %b, %h, %i, %j) with (%t = %slopes : tensor<?xf32>, %u = %known : tensor<3xf32>) {
    %c = tensor.extract %t[%h] : tensor<?xf32>
    %d = tensor.extract %u[%h] : tensor<3xf32>
    %e = arith.mulf %c, %d : f32
    %r = arith.mulf %score, %e : f32
    attn.yield %r : f32
  } : tensor<?x4x?x?xf32>
  %w = attn.softmax %m : tensor<?x4x?x?xf32>
  %o = attn.context %w, %k : (tensor<?x4x?x?xf32>, tensor<?x4x?x8xf32>) -> tensor<?x4x?x8xf32>
  return %o : tensor<?x4x?x8xf32>
}

// What was read beside the scores by an elementwise op, before it became part
// of a score function, is as large as they are; a table may be larger.
// CHECK-LABEL: func.func @beside
// CHECK-SAME: #attn.port<"m", input [q0, k2] : tensor<?x?xi1>, not_empty {{\[\[}}q0, q2]]>, #attn.port<"t", input [t0] : tensor<?xf32>,
func.func @beside(%q: tensor<?x4x?x16xf32> {attn.name = "q"}, %k: tensor<?x4x?x16xf32> {attn.name = "k"}, %v: tensor<?x4x?x16xf32> {attn.name = "v"}, %m: tensor<?x?xi1> {attn.name = "m"}, %t: tensor<?xf32> {attn.name = "t"}) -> tensor<?x4x?x16xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.25 score_mod (%s: f32, %b, %h, %i, %j) with (%mask = %m : tensor<?x?xi1>, %table = %t : tensor<?xf32>) {
    %low = arith.constant -10000.0 : f32
    %hidden = tensor.extract %mask[%b, %j] {attn.row_for_row} : tensor<?x?xi1>
    %x = tensor.extract %table[%j] : tensor<?xf32>
    %y = arith.addf %s, %x : f32
    %z = arith.select %hidden, %low, %y : f32
    attn.yield %z : f32
  } : (tensor<?x4x?x16xf32>, tensor<?x4x?x16xf32>, tensor<?x4x?x16xf32>) -> tensor<?x4x?x16xf32>
  return %o : tensor<?x4x?x16xf32>
}
