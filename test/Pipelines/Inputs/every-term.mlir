// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
func.func @f(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x?x8xf32>, %v: tensor<2x4x?x8xf32>, %n: tensor<2xi32>, %ids: tensor<2x?xi32>, %key_ids: tensor<2x?xi32>,
    %starts: tensor<?xi64>, %bits: tensor<4x?x?xi1>, %tree: tensor<5xi32>, %ok: tensor<?x?xi1>, %width: tensor<4xi32>, %table: tensor<?xf32>) -> tensor<2x4x?x8xf32> {
  %s = attn.scores %q, %k : (tensor<2x4x?x8xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x?xf32>
  %a = attn.mask %s where causal(offset = %n : tensor<2xi32>) and (window(left = %n : tensor<2xi32>, right = 3, bottom_right) or prefix(%n : tensor<2xi32>) or sink(2)) : tensor<2x4x?x?xf32>
  %b = attn.mask %a where document(%ids : tensor<2x?xi32>, %key_ids : tensor<2x?xi32>) and not (chunked(8, offset = 3) and dilated(2)) : tensor<2x4x?x?xf32>
  %c = attn.mask %b where block(4, 4, bits = [[1, 0], [0, 1]]) or block(2, 2, %bits : tensor<4x?x?xi1>) or tree(5, %tree : tensor<5xi32>) : tensor<2x4x?x?xf32>
  %d = attn.mask %c where %ok : tensor<?x?xi1> or document(cumulative %starts : tensor<?xi64>) : tensor<2x4x?x?xf32>
  %e = attn.mask_fn %d (%x, %h, %i, %j) with (%w = %width : tensor<4xi32>, %t = %table : tensor<?xf32>) {
    %limit = tensor.extract %w[%h] : tensor<4xi32>
    %bound = arith.index_cast %limit : i32 to index
    %distance = arith.subi %i, %j : index
    %near = arith.cmpi ult, %distance, %bound : index
    %value = tensor.extract %t[%j] : tensor<?xf32>
    %zero = arith.constant 0.0 : f32
    %positive = arith.cmpf ogt, %value, %zero : f32
    %visible = arith.andi %near, %positive : i1
    attn.yield %visible : i1
  } : tensor<2x4x?x?xf32>
  %p = attn.softmax %e : tensor<2x4x?x?xf32>
  %out = attn.context %p, %v : (tensor<2x4x?x?xf32>, tensor<2x4x?x8xf32>) -> tensor<2x4x?x8xf32>
  return %out : tensor<2x4x?x8xf32>
}

// Positions in documents, and their tables.
func.func @g(%q: tensor<4x?x8xf32>, %k: tensor<4x?x8xf32>, %cu_q: tensor<?xi32>, %cu_k: tensor<?xi32>, %n: tensor<i32>) -> tensor<4x?x8xf32> {
  %out = attn.sdpa %q, %k, %k scale 0.5
      where document(cumulative %cu_q : tensor<?xi32>, %cu_k : tensor<?xi32>) and causal(bottom_right in document) and key_length(%n : tensor<i32>)
        and (window(left = 3) or not dilated(2, top_left in document))
      : (tensor<4x?x8xf32>, tensor<4x?x8xf32>, tensor<4x?x8xf32>) -> tensor<4x?x8xf32>
  return %out : tensor<4x?x8xf32>
}
