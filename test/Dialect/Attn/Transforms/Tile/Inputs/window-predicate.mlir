// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
func.func @f(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %scores = attn.scores %q, %k : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x?xf32>
  %masked = attn.mask_fn %scores (%b, %h, %i, %j) {
    %c300 = arith.constant 300 : index
    %oldest = arith.subi %i, %c300 : index
    %near = arith.cmpi sge, %j, %oldest : index
    %past = arith.cmpi sle, %j, %i : index
    %visible = arith.andi %near, %past : i1
    attn.yield %visible : i1
  } : tensor<?x?xf32>
  %weights = attn.softmax %masked : tensor<?x?xf32>
  %out = attn.context %weights, %v : (tensor<?x?xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %out : tensor<?x8xf32>
}
