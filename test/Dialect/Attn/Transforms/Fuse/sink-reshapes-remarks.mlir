// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stays behind a reshape of a product, and why.
// RUN: attn-opt %s --attn-sink-reshapes --remarks-filter-missed=attn-sink-reshapes --remark-policy=all 2>&1 | FileCheck %s

// CHECK: remark: {{.*}}arith.addf is not computed with the product in front of a reshape: another operand is a slice or a tensor of the caller
// CHECK: remark: {{.*}}linalg.generic is not computed with the product in front of a reshape: it has a body
// CHECK-LABEL: func.func @caller
// CHECK: arith.addf %{{.*}} : tensor<4x7x64xf32>
func.func @caller(%x: tensor<28x32xf32>, %w: tensor<32x64xf32>, %y: tensor<4x7x64xf32>) -> tensor<4x7x64xf32> {
  %p = attn.project %x, %w : (tensor<28x32xf32>, tensor<32x64xf32>) -> tensor<28x64xf32>
  %e = tensor.expand_shape %p [[0, 1], [2]] output_shape [4, 7, 64] : tensor<28x64xf32> into tensor<4x7x64xf32>
  %sum = arith.addf %e, %y : tensor<4x7x64xf32>
  return %sum : tensor<4x7x64xf32>
}

#id = affine_map<(i, j, k) -> (i, j, k)>
// CHECK-LABEL: func.func @generic
// CHECK: tensor.expand_shape
// CHECK: linalg.generic
func.func @generic(%x: tensor<28x32xf32>, %w: tensor<32x64xf32>) -> tensor<4x7x64xf32> {
  %p = attn.project %x, %w : (tensor<28x32xf32>, tensor<32x64xf32>) -> tensor<28x64xf32>
  %e = tensor.expand_shape %p [[0, 1], [2]] output_shape [4, 7, 64] : tensor<28x64xf32> into tensor<4x7x64xf32>
  %empty = tensor.empty() : tensor<4x7x64xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%e : tensor<4x7x64xf32>) outs(%empty : tensor<4x7x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %y = math.tanh %in : f32
    linalg.yield %y : f32
  } -> tensor<4x7x64xf32>
  return %t : tensor<4x7x64xf32>
}
