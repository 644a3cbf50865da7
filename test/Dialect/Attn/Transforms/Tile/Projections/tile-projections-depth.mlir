// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-assign-schedule --attn-tile-projections | FileCheck %s
// RUN: attn-opt %s --entry=input_open --emit=lib -o %t.so --verify=3 | FileCheck %s --check-prefix=RIGHT
// RUN: attn-opt %s --entry=weight_open --emit=lib -o %t.so --verify=3 | FileCheck %s --check-prefix=RIGHT

// RIGHT: largest error {{.*}} (tolerance 1e-04)

// Features that one of input and weight has by its type are known of the other.

// CHECK-LABEL: @input_open
// CHECK: tensor.cast %{{.*}} : tensor<?x?xf32> to tensor<?x24xf32>
// CHECK: attn.project_tile
func.func @input_open(%x: tensor<?x?xf32>, %w: tensor<24x16xf32>) -> tensor<?x16xf32> {
  %y = attn.project %x, %w : (tensor<?x?xf32>, tensor<24x16xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// CHECK-LABEL: @weight_open
// CHECK: tensor.cast %{{.*}} : tensor<16x?xf32> to tensor<16x24xf32>
// CHECK: attn.project_tile
func.func @weight_open(%x: tensor<?x24xf32>, %w: tensor<16x?xf32>) -> tensor<?x16xf32> {
  %y = attn.project %x, %w transposed : (tensor<?x24xf32>, tensor<16x?xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// CHECK-LABEL: @neither
// CHECK-NOT: tensor.cast
// CHECK: attn.project_tile
func.func @neither(%x: tensor<?x?xf32>, %w: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %y = attn.project %x, %w : (tensor<?x?xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}
