// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A slice whose last dimension has a stride, or is dropped, is copied once for all
// its users; so is what is inserted that way. Other slices stay views.
// RUN: attn-opt %s --attn-copy-strided-slices | FileCheck %s

// CHECK-LABEL: @stride
// CHECK: %[[PART:.*]] = tensor.extract_slice %arg0[0, 0] [%arg1, 8] [1, 2]
// CHECK: %[[EMPTY:.*]] = tensor.empty(%arg1) : tensor<?x8xf32>
// CHECK: %[[COPY:.*]] = linalg.copy ins(%[[PART]] : tensor<?x8xf32>) outs(%[[EMPTY]] : tensor<?x8xf32>)
// CHECK: arith.addf %[[COPY]], %[[COPY]]
func.func @stride(%x: tensor<?x16xf32>, %n: index) -> tensor<?x8xf32> {
  %k = tensor.extract_slice %x[0, 0] [%n, 8] [1, 2] : tensor<?x16xf32> to tensor<?x8xf32>
  %y = arith.addf %k, %k : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: @dropped
// CHECK: %[[PART:.*]] = tensor.extract_slice %arg0[0, 0, 2] [7, 8, 1] [1, 1, 1]
// CHECK: linalg.copy ins(%[[PART]] : tensor<7x8xf32>)
func.func @dropped(%x: tensor<7x8x4xf32>) -> tensor<7x8xf32> {
  %k = tensor.extract_slice %x[0, 0, 2] [7, 8, 1] [1, 1, 1] : tensor<7x8x4xf32> to tensor<7x8xf32>
  return %k : tensor<7x8xf32>
}

// CHECK-LABEL: @insert
// CHECK: %[[COPY:.*]] = linalg.copy ins(%arg0
// CHECK: tensor.insert_slice %[[COPY]] into %arg1[0, 0] [5, 8] [1, 2]
func.func @insert(%x: tensor<5x8xf32>, %to: tensor<5x16xf32>) -> tensor<5x16xf32> {
  %r = tensor.insert_slice %x into %to[0, 0] [5, 8] [1, 2] : tensor<5x8xf32> into tensor<5x16xf32>
  return %r : tensor<5x16xf32>
}

// CHECK-LABEL: @rows
// CHECK-NOT: linalg.copy
func.func @rows(%x: tensor<14x3x16xf32>, %i: index) -> tensor<7x8xf32> {
  %k = tensor.extract_slice %x[0, %i, 8] [7, 1, 8] [2, 1, 1] : tensor<14x3x16xf32> to tensor<7x8xf32>
  return %k : tensor<7x8xf32>
}

// A step over one element is 1, and there is no gap.
// CHECK-LABEL: @one_element
// CHECK:       tensor.extract_slice %arg0[0, 0] [1, 1] [1, 1] : tensor<1x1xf32> to tensor<1xf32>
// CHECK-NOT:   linalg.copy
func.func @one_element(%x: tensor<1x1xf32>) -> tensor<1xf32> {
  %part = tensor.extract_slice %x[0, 0] [1, 1] [1, 2] : tensor<1x1xf32> to tensor<1xf32>
  return %part : tensor<1xf32>
}
