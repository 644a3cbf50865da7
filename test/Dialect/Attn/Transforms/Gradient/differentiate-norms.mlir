// The gradients of norms are sums over rows and one loop over the elements.
// RUN: attn-opt %s --attn-differentiate --split-input-file | FileCheck %s
// RUN: attn-opt %s --compile-to=llvm --target=x86-64-v3 -o %t.mlir
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Rows that are centred have a sum more, and the bias one over rows.
// CHECK-LABEL: func.func @layer_gradient(
// CHECK-SAME:    -> (tensor<?x8xf32> {attn.name = "d_arg0"}, tensor<8xf32> {attn.name = "d_arg1"}, tensor<8xf32> {attn.name = "d_arg2"})
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} ["parallel", "reduction"]} ins(%[[X:[a-z0-9]+]] : tensor<?x8xf32>) outs(%{{.*}} : tensor<?xf32>)
// CHECK:         %[[SQUARES:.*]] = linalg.generic {{.*}} ["parallel", "reduction"]} ins(%[[X]], %[[SUM]] :
// CHECK:         %[[DB:.*]] = linalg.generic {{.*}} ["reduction", "parallel"]} ins(%[[DY:[a-z0-9]+]] : tensor<?x8xf32>)
// CHECK:         %[[DW:.*]] = linalg.generic {{.*}} ["reduction", "parallel"]} ins(%[[X]], %[[DY]], %[[SQUARES]], %[[SUM]], %[[W:[a-z0-9]+]] :
// CHECK:         %[[DOTS:.*]] = linalg.generic {{.*}} ["parallel", "reduction"]} ins(%[[X]], %[[DY]], %[[SQUARES]], %[[SUM]], %[[W]] :
// CHECK:         %[[G:.*]] = linalg.generic {{.*}} ["parallel", "reduction"]} ins(%[[X]], %[[DY]], %[[SQUARES]], %[[SUM]], %[[W]] :
// CHECK:         %[[DX:.*]] = linalg.generic {{.*}} ["parallel", "parallel"]} ins(%[[X]], %[[DY]], %[[SQUARES]], %[[SUM]], %[[W]], %[[DOTS]], %[[G]] :
// CHECK:         return %[[DX]], %[[DW]], %[[DB]]
func.func @layer(%x: tensor<?x8xf32> {attn.gradient}, %w: tensor<8xf32> {attn.gradient}, %b: tensor<8xf32> {attn.gradient}) -> tensor<?x8xf32> {
  %y = attn.layer_norm %x, %w, %b eps 1.0e-5 : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
  return %y : tensor<?x8xf32>
}

// Neither weight nor bias, in 16 bits: sums are in f32.
// CHECK-LABEL: func.func @narrow_gradient(
// CHECK-COUNT-4: outs(%{{.*}} : tensor<5xf32>)
// CHECK:         outs(%{{.*}} : tensor<5x8xbf16>)
func.func @narrow(%x: tensor<5x8xbf16> {attn.gradient}) -> tensor<5x8xbf16> {
  %y = attn.layer_norm %x eps 1.0e-5 : tensor<5x8xbf16>
  return %y : tensor<5x8xbf16>
}

// Rows that are not centred have no such sums.
// CHECK-LABEL: func.func @root_gradient(
// CHECK:         %[[SQUARES:.*]] = linalg.generic {{.*}} ["parallel", "reduction"]} ins(%[[X:[a-z0-9]+]] : tensor<5x8xf32>)
// CHECK:         %[[DOTS:.*]] = linalg.generic {{.*}} ["parallel", "reduction"]} ins(%[[X]], %{{.*}}, %[[SQUARES]] :
// CHECK:         linalg.generic {{.*}} ["parallel", "parallel"]} ins(%[[X]], %{{.*}}, %[[SQUARES]], %[[DOTS]] :
func.func @root(%x: tensor<5x8xf32> {attn.gradient}) -> tensor<5x8xf32> {
  %y = attn.rms_norm %x eps 1.0e-6 : tensor<5x8xf32>
  return %y : tensor<5x8xf32>
}
