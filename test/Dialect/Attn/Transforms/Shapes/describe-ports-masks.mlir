// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the operands of masks must have in common with the scores: numbers the batch size, documents a number per row
// and key, trees rows per batch entry, bitmaps the leading dimensions. Starts of documents come in pairs.
// RUN: attn-opt %s --attn-describe-ports --mlir-print-local-scope | FileCheck %s
// CHECK: #attn.port<"q", input [q0, 4, q2, 8]
// CHECK-SAME: #attn.port<"k", input [q0, 4, k2, 8]
// CHECK-SAME: #attn.port<"n", input [q0]
// CHECK-SAME: #attn.port<"rows", input [q0, q2]
// CHECK-SAME: #attn.port<"keys", input [k2]
// CHECK-SAME: #attn.port<"tree", input [q0, 7]
// CHECK-SAME: #attn.port<"bits", input [4, bits1, bits2]
// CHECK-SAME: #attn.port<"from", input [from0]
// CHECK-SAME: #attn.port<"to", input [from0]
func.func @f(%q: tensor<?x4x?x8xf32> {attn.name = "q"}, %k: tensor<?x4x?x8xf32> {attn.name = "k"}, %n: tensor<?xi32> {attn.name = "n"},
    %rows: tensor<?x?xi32> {attn.name = "rows"}, %keys: tensor<?xi32> {attn.name = "keys"}, %tree: tensor<?x?xi32> {attn.name = "tree"},
    %bits: tensor<?x?x?xi1> {attn.name = "bits"}, %from: tensor<?xi32> {attn.name = "from"}, %to: tensor<?xi32> {attn.name = "to"}) -> tensor<?x4x?x8xf32> {
  %r = attn.sdpa %q, %k, %k scale 1.0 where window(left = %n : tensor<?xi32>) and document(%rows : tensor<?x?xi32>, %keys : tensor<?xi32>)
      and tree(7, %tree : tensor<?x?xi32>) and block(8, 8, %bits : tensor<?x?x?xi1>)
      and document(cumulative %from : tensor<?xi32>, %to : tensor<?xi32>) : (tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>) -> tensor<?x4x?x8xf32>
  return %r : tensor<?x4x?x8xf32>
}
