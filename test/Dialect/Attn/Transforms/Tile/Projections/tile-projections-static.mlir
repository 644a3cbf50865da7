// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Known numbers of rows leave the loops that have items. Up to 16 rows, or
// two blocks, are few.
// RUN: attn-opt %s --attn-tile-projections --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @many
// CHECK: scf.forall (%{{.*}}) in (38)
// CHECK: attn.pack_panels
// CHECK: scf.forall (%{{.*}}) in (3)
// CHECK: attn.project_tile {{.*}} {schedule = {{.*}}, tensor<150x128x4xf32>
// CHECK-NOT: attn.project_tile
func.func @many(%x: tensor<33x128xf32>, %w: tensor<128x600xf32>) -> tensor<33x600xf32> {
  %y = attn.project %x, %w {schedule = #s} : (tensor<33x128xf32>, tensor<128x600xf32>) -> tensor<33x600xf32>
  return %y : tensor<33x600xf32>
}

// CHECK-LABEL: @few
// CHECK-NOT: attn.pack_panels
// CHECK: scf.forall (%{{.*}}) in (2)
// CHECK-NOT: attn.pack_panels
func.func @few(%x: tensor<16x128xf32>, %w: tensor<128x1030xf32>) -> tensor<16x1030xf32> {
  %y = attn.project %x, %w {schedule = #s} : (tensor<16x128xf32>, tensor<128x1030xf32>) -> tensor<16x1030xf32>
  return %y : tensor<16x1030xf32>
}

// CHECK-LABEL: @sixteen
// CHECK: attn.project_tile {{.*}} {attn.few_rows, schedule
func.func @sixteen(%x: tensor<16x128xf32>, %w: tensor<128x100xf32>) -> tensor<16x100xf32> {
  %y = attn.project %x, %w {schedule = #s} : (tensor<16x128xf32>, tensor<128x100xf32>) -> tensor<16x100xf32>
  return %y : tensor<16x100xf32>
}

// CHECK-LABEL: @seventeen
// CHECK: attn.project_tile {{.*}} {schedule
func.func @seventeen(%x: tensor<17x128xf32>, %w: tensor<128x100xf32>) -> tensor<17x100xf32> {
  %y = attn.project %x, %w {schedule = #s} : (tensor<17x128xf32>, tensor<128x100xf32>) -> tensor<17x100xf32>
  return %y : tensor<17x100xf32>
}

// CHECK-LABEL: @unknown
// CHECK: attn.project_tile {{.*}} {attn.few_rows, schedule
func.func @unknown(%x: tensor<?x128xf32>, %w: tensor<128x100xf32>) -> tensor<?x100xf32> {
  %y = attn.project %x, %w {schedule = #s} : (tensor<?x128xf32>, tensor<128x100xf32>) -> tensor<?x100xf32>
  return %y : tensor<?x100xf32>
}

// Two batch entries of 20 rows each share the panels.
// CHECK-LABEL: @batch
// CHECK: attn.pack_panels
func.func @batch(%x: tensor<2x20x128xf32>, %w: tensor<128x600xf32>) -> tensor<2x20x600xf32> {
  %y = attn.project %x, %w {schedule = #s} : (tensor<2x20x128xf32>, tensor<128x600xf32>) -> tensor<2x20x600xf32>
  return %y : tensor<2x20x600xf32>
}
