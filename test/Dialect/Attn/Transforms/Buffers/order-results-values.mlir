// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results of which one is made of another, beside the reference.
// RUN: %quick %s --verify=1

func.func @updated(%x: tensor<5x4xf32>, %w: tensor<4x6xf32>, %s: tensor<2x6xf32>) -> (tensor<5x6xf32>, tensor<5x6xf32>) {
  %a = attn.project %x, %w : (tensor<5x4xf32>, tensor<4x6xf32>) -> tensor<5x6xf32>
  %b = tensor.insert_slice %s into %a[1, 0] [2, 6] [1, 1] : tensor<2x6xf32> into tensor<5x6xf32>
  return %b, %a : tensor<5x6xf32>, tensor<5x6xf32>
}

func.func @updated_twice(%x: tensor<5x6xf32>, %r: tensor<1x6xf32>, %t: tensor<1x6xf32>) -> (tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>) {
  %y = attn.sdpa %x, %x, %x scale 0.3 : (tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>) -> tensor<5x6xf32>
  %a = tensor.insert_slice %r into %y[1, 0] [1, 6] [1, 1] : tensor<1x6xf32> into tensor<5x6xf32>
  %b = tensor.insert_slice %t into %y[2, 0] [1, 6] [1, 1] : tensor<1x6xf32> into tensor<5x6xf32>
  return %a, %b, %y : tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>
}

// Gradients of one type, whose sums begin with the same zeros: by the slopes and by lambda.
func.func @zeros(%q: tensor<6x5x2xf32>, %q2: tensor<6x5x2xf32>, %k: tensor<1x5x2xf32>, %slopes: tensor<6xf32> {attn.gradient}, %lambda: tensor<6xf32> {attn.gradient}) -> tensor<6x5x2xf32> {
  %s = attn.scores %q, %k : (tensor<6x5x2xf32>, tensor<1x5x2xf32>) -> tensor<6x5x5xf32>
  %a = attn.alibi %s, %slopes aligned bottom_right : tensor<6x5x5xf32>, tensor<6xf32>
  %w = attn.softmax %a : tensor<6x5x5xf32>
  %s2 = attn.scores %q2, %k : (tensor<6x5x2xf32>, tensor<1x5x2xf32>) -> tensor<6x5x5xf32>
  %a2 = attn.alibi %s2, %slopes aligned bottom_right : tensor<6x5x5xf32>, tensor<6xf32>
  %w2 = attn.softmax %a2 : tensor<6x5x5xf32>
  %d = attn.subtract_weights %w, %w2 by %lambda : tensor<6x5x5xf32>, tensor<6xf32>
  %o = attn.context %d, %k : (tensor<6x5x5xf32>, tensor<1x5x2xf32>) -> tensor<6x5x2xf32>
  return %o : tensor<6x5x2xf32>
}
