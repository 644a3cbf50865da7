// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Up to 32 rows, those of two tiles, read the weight as it is. More share its
// panels, which a loop of its own packs, 4 in an item. Tiles of one row are wide. The number of rows decides
// which of the loops have items; tiles are of equal sizes.
// RUN: attn-opt %s --attn-tile-projections --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f
// CHECK-DAG: %[[M:.*]] = tensor.dim %arg0, %c0
// CHECK-DAG: %[[MANY:.*]] = arith.cmpi ugt, %[[M]], %c32
// CHECK-DAG: %[[FEW:.*]] = arith.select %[[MANY]], %c0, %c1
// CHECK-DAG: %[[PARTS:.*]] = arith.ceildivui %[[M]], %c16
// CHECK-DAG: %[[SOME:.*]] = arith.maxui %[[PARTS]], %c1
// CHECK-DAG: %[[EACH:.*]] = arith.ceildivui %[[M]], %[[SOME]]
// CHECK-DAG: %[[BLOCKS:.*]] = arith.ceildivui %[[EACH]], %c2
// CHECK-DAG: %[[STEP:.*]] = arith.muli %{{.*}}, %c2
// CHECK-DAG: %[[TILES:.*]] = arith.ceildivui %[[M]], %[[STEP]]
// CHECK-DAG: %[[ALONE:.*]] = arith.cmpi ule, %[[M]], %c1
// CHECK-DAG: %[[MOST:.*]] = arith.select %[[ALONE]], %c2048, %c768
// CHECK-DAG: arith.ceildivui %c1000, %[[MOST]]
// CHECK: %[[FIRST:.*]] = scf.forall (%{{.*}}, %[[I:.*]], %[[J:.*]]) in (%[[FEW]], %[[TILES]], %[[PARTS2:.*]]) shared_outs(%[[O:.*]] = %{{.*}})
// CHECK: %[[ROW:.*]] = arith.muli %[[I]], %[[STEP]]
// CHECK: %[[COLUMN:.*]] = arith.muli %[[J]], %[[WIDTH:.*]]
// CHECK: %[[X:.*]] = tensor.extract_slice %arg0[%[[ROW]], 0] [%[[ROWS:.*]], 128] [1, 1]
// CHECK: %[[W:.*]] = tensor.extract_slice %arg1[0, %[[COLUMN]]] [128, %[[COLUMNS:.*]]] [1, 1]
// CHECK: %[[T:.*]] = attn.project_tile %[[X]], %[[W]] outs(
// CHECK: tensor.parallel_insert_slice %[[T]] into %[[O]][%[[ROW]], %[[COLUMN]]] [%[[ROWS]], %[[COLUMNS]]]

// CHECK: %[[COUNT:.*]] = arith.select %[[MANY]], %c250, %c0
// CHECK: %[[EMPTY:.*]] = tensor.empty(%[[COUNT]]) : tensor<?x128x4xf32>
// CHECK: %[[ITEMS:.*]] = arith.ceildivui %[[COUNT]], %c4
// CHECK: %[[PANELS:.*]] = scf.forall (%{{.*}}) in (%[[ITEMS]]) shared_outs(%{{.*}} = %[[EMPTY]])
// CHECK: attn.pack_panels %{{.*}} outs(

// CHECK: scf.forall ({{.*}}) in (%{{.*}}, %[[TILES]], 2) shared_outs(%{{.*}} = %[[FIRST]])
// CHECK: tensor.extract_slice %[[PANELS]]
// CHECK: attn.project_tile %{{.*}} : tensor<?x128xf32>, tensor<?x128x4xf32>
func.func @f(%x: tensor<?x128xf32>, %w: tensor<128x1000xf32>) -> tensor<?x1000xf32> {
  %y = attn.project %x, %w {schedule = #s} : (tensor<?x128xf32>, tensor<128x1000xf32>) -> tensor<?x1000xf32>
  return %y : tensor<?x1000xf32>
}
