// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-raise-attention --canonicalize --split-input-file | FileCheck %s

// Windows of images of unknown number, as in shifted windows: each of the 4 windows of an image has a mask of its own, which is added in five dimensions.
// CHECK-LABEL: func.func @windows
// CHECK-SAME: %[[Q:.*]]: tensor<?x2x9x8xf32>, %[[K:.*]]: tensor<?x2x9x8xf32>, %[[V:.*]]: tensor<?x2x9x8xf32>, %[[MASK:.*]]: tensor<4x9x9xf32>
// CHECK: %[[S:.*]] = attn.scores %[[Q]], %[[K]]
// CHECK: %[[M:.*]] = attn.score_mod %[[S]] (%[[SCORE:.*]]: f32, %[[B:.*]], %{{.*}}, %[[I:.*]], %[[J:.*]]) with (%[[T:.*]] = %[[MASK]] : tensor<4x9x9xf32>)
// CHECK: %[[W:.*]] = arith.remui %[[B]], %c4
// CHECK: %[[E:.*]] = tensor.extract %[[T]][%[[W]], %[[I]], %[[J]]] {attn.row_for_row}
// CHECK: arith.addf %[[SCORE]], %[[E]]
// CHECK: %[[P:.*]] = attn.softmax %[[M]]
// CHECK: attn.context %[[P]], %[[V]]
func.func @windows(%q: tensor<?x2x9x8xf32>, %k: tensor<?x2x9x8xf32>, %v: tensor<?x2x9x8xf32>, %mask: tensor<4x9x9xf32>, %images: index, %windows: index) -> tensor<?x2x9x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%windows) : tensor<?x2x9x9xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x2x9x9xf32>) -> tensor<?x2x9x9xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, affine_map<(b, h, i, j, d) -> (b, h, j, d)>, affine_map<(b, h, i, j, d) -> (b, h, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<?x2x9x8xf32>, tensor<?x2x9x8xf32>) outs(%f : tensor<?x2x9x9xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %c, %m : f32
    linalg.yield %t : f32
  } -> tensor<?x2x9x9xf32>
  %apart = tensor.expand_shape %s [[0, 1], [2], [3], [4]] output_shape [%images, 4, 2, 9, 9] : tensor<?x2x9x9xf32> into tensor<?x4x2x9x9xf32>
  %e5 = tensor.empty(%images) : tensor<?x4x2x9x9xf32>
  %masks = linalg.broadcast ins(%mask : tensor<4x9x9xf32>) outs(%e5 : tensor<?x4x2x9x9xf32>) dimensions = [0, 2]
  %sum = arith.addf %apart, %masks : tensor<?x4x2x9x9xf32>
  %joined = tensor.collapse_shape %sum [[0, 1], [2], [3], [4]] : tensor<?x4x2x9x9xf32> into tensor<?x2x9x9xf32>
  %w = linalg.softmax dimension(3) ins(%joined : tensor<?x2x9x9xf32>) outs(%e : tensor<?x2x9x9xf32>) -> tensor<?x2x9x9xf32>
  %e2 = tensor.empty(%windows) : tensor<?x2x9x8xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x2x9x8xf32>) -> tensor<?x2x9x8xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(b, h, i, d, j) -> (b, h, i, j)>, affine_map<(b, h, i, d, j) -> (b, h, j, d)>, affine_map<(b, h, i, d, j) -> (b, h, i, d)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%w, %v : tensor<?x2x9x9xf32>, tensor<?x2x9x8xf32>) outs(%f2 : tensor<?x2x9x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %c, %m : f32
    linalg.yield %t : f32
  } -> tensor<?x2x9x8xf32>
  return %o : tensor<?x2x9x8xf32>
}
