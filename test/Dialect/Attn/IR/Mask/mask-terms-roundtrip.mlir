// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every term as it is printed. A position of top_left is not.
// CHECK-LABEL: func @terms
func.func @terms(%s: tensor<2x4x5x5xf32>, %n: tensor<2xi32>, %ids: tensor<5xi32>, %m: tensor<?x?xi1>, %t: tensor<3xi64>) -> tensor<2x4x5x5xf32> {
  // CHECK: where window(left = 3, right = 2) and window(left = %{{.*}} : tensor<2xi32>, bottom_right) and window(right = 1, offset = -2)
  %0 = attn.mask %s where window(left = 3, right = 2, top_left) and window(left = %n : tensor<2xi32>, bottom_right) and window(right = 1, offset = -2) : tensor<2x4x5x5xf32>
  // CHECK: where (sink(4) or prefix(6) or prefix(%{{.*}} : tensor<2xi32>)) and not chunked(8, bottom_right)
  %1 = attn.mask %0 where (sink(4) or prefix(6) or prefix(%n : tensor<2xi32>)) and not chunked(8, bottom_right) : tensor<2x4x5x5xf32>
  // CHECK: where dilated(2) or dilated(3, offset = %{{.*}} : tensor<2xi32>)
  %2 = attn.mask %1 where dilated(2) or dilated(3, offset = %n : tensor<2xi32>) : tensor<2x4x5x5xf32>
  // CHECK: where block(2, 3, bits = {{\[\[}}1, 0], [0, 1]]) or block(2, 3, %{{.*}} : tensor<?x?xi1>)
  %3 = attn.mask %2 where block(2, 3, bits = [[1, 0], [0, 1]]) or block(2, 3, %m : tensor<?x?xi1>) : tensor<2x4x5x5xf32>
  // CHECK: where tree(3, %{{.*}} : tensor<3xi64>) and document(%{{.*}} : tensor<5xi32>)
  %4 = attn.mask %3 where tree(3, %t : tensor<3xi64>) and document(%ids : tensor<5xi32>) : tensor<2x4x5x5xf32>
  // CHECK: where document(%{{.*}} : tensor<5xi32>, %{{.*}} : tensor<5xi32>) and document(cumulative %{{.*}} : tensor<2xi32>)
  %5 = attn.mask %4 where document(%ids : tensor<5xi32>, %ids : tensor<5xi32>) and document(cumulative %n : tensor<2xi32>) : tensor<2x4x5x5xf32>
  // CHECK: attn.mask_fn %{{.*}} (%{{.*}}, %{{.*}}, %[[Q:.*]], %{{.*}}) with (%[[T:.*]] = %{{.*}} : tensor<5xi32>) {
  // CHECK: tensor.extract %[[T]][%[[Q]]] : tensor<5xi32>
  // CHECK: attn.yield %{{.*}} : i1
  %6 = attn.mask_fn %5 (%b, %h, %q, %k) with (%table = %ids : tensor<5xi32>) {
    %x = tensor.extract %table[%q] : tensor<5xi32>
    %y = arith.cmpi eq, %x, %x : i32
    attn.yield %y : i1
  } : tensor<2x4x5x5xf32>
  return %6 : tensor<2x4x5x5xf32>
}
