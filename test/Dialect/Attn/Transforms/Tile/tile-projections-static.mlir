// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Known numbers of rows fold to known tiles: narrow ones of many rows, one wide
// tile of few.
// RUN: attn-opt %s --attn-tile-projections --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @many
// CHECK: scf.forall (%{{.*}}, %{{.*}}) in (2, 10)
func.func @many(%x: tensor<33x128xf32>, %w: tensor<128x600xf32>) -> tensor<33x600xf32> {
  %y = attn.project %x, %w {schedule = #s} : (tensor<33x128xf32>, tensor<128x600xf32>) -> tensor<33x600xf32>
  return %y : tensor<33x600xf32>
}

// CHECK-LABEL: @few
// CHECK: scf.forall (%{{.*}}) in (2)
func.func @few(%x: tensor<2x128xf32>, %w: tensor<128x1030xf32>) -> tensor<2x1030xf32> {
  %y = attn.project %x, %w {schedule = #s} : (tensor<2x128xf32>, tensor<128x1030xf32>) -> tensor<2x1030xf32>
  return %y : tensor<2x1030xf32>
}
