// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bias is cut to the tile's columns.
// RUN: attn-opt %s --attn-tile-projections --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f
// CHECK: %[[W:.*]] = tensor.extract_slice %arg1[0, %[[COLUMN:[0-9]+]]] [128, %[[COLUMNS:[0-9]+]]]
// CHECK: %[[B:.*]] = tensor.extract_slice %arg2[%[[COLUMN]]] [%[[COLUMNS]]] [1] : tensor<1000xf32> to tensor<?xf32>
// CHECK: attn.project_tile %{{.*}}, %[[W]] bias %[[B]] : tensor<?xf32> outs(
func.func @f(%x: tensor<9x128xf32>, %w: tensor<128x1000xf32>, %b: tensor<1000xf32>) -> tensor<9x1000xf32> {
  %y = attn.project %x, %w, %b {schedule = #s} : (tensor<9x128xf32>, tensor<128x1000xf32>, tensor<1000xf32>) -> tensor<9x1000xf32>
  return %y : tensor<9x1000xf32>
}
