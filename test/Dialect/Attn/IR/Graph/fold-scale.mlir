// RUN: attn-opt %s -canonicalize | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A scale by 1 is its input; by anything else it stays.
// CHECK-LABEL: func @by_one
// CHECK-SAME: (%[[S:.*]]: tensor<2x3xf32>)
// CHECK-NEXT: return %[[S]]
func.func @by_one(%s: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = attn.scale %s by 1.0 : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @by_minus_one
// CHECK-NEXT: attn.scale %{{.*}} by -1.000000e+00
func.func @by_minus_one(%s: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = attn.scale %s by -1.0 : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
