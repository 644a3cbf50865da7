// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two destinations that CSE has made one are two again, and so are their slices.
// RUN: attn-opt %s --attn-lower-signature | FileCheck %s

// CHECK-DAG: %[[A:.*]] = tensor.empty
// CHECK-DAG: %[[B:.*]] = tensor.empty
// CHECK-DAG: %[[X:.*]] = tensor.extract_slice %[[A]][0, 0]
// CHECK-DAG: %[[Y:.*]] = tensor.extract_slice %[[B]][0, 0]
// CHECK: linalg.fill {{.*}} outs(%[[X]]
// CHECK: linalg.fill {{.*}} outs(%[[Y]]
func.func @f(%x: f32, %y: f32) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %empty = tensor.empty() : tensor<3x4xf32>
  %part = tensor.extract_slice %empty[0, 0] [2, 4] [1, 1] : tensor<3x4xf32> to tensor<2x4xf32>
  %a = linalg.fill ins(%x : f32) outs(%part : tensor<2x4xf32>) -> tensor<2x4xf32>
  %b = linalg.fill ins(%y : f32) outs(%part : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %a, %b : tensor<2x4xf32>, tensor<2x4xf32>
}
