// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tile has two query tiles of rows and 64 columns; where the rows fit one
// block of registers, it is a page of columns wide.
// RUN: attn-opt %s --attn-tile-projections --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f
// CHECK: %[[S:.*]] = tensor.dim %arg0, %c0
// CHECK: %[[FEW:.*]] = arith.cmpi ule, %[[S]], %c2
// CHECK: %[[STEP:.*]] = arith.select %[[FEW]], %c1024, %c64
// CHECK-DAG: %[[TILES:.*]] = arith.ceildivui %[[S]], %c32
// CHECK-DAG: %[[WIDE:.*]] = arith.ceildivui %c600, %[[STEP]]
// CHECK: scf.forall (%[[I:.*]], %[[J:.*]]) in (%[[TILES]], %[[WIDE]]) shared_outs(%[[O:.*]] = %{{.*}})
// CHECK: %[[ROW:.*]] = arith.muli %[[I]], %c32
// CHECK: %[[COLUMN:.*]] = arith.muli %[[J]], %[[STEP]]
// CHECK: %[[X:.*]] = tensor.extract_slice %arg0[%[[ROW]], 0] [%[[ROWS:.*]], 128] [1, 1]
// CHECK: %[[W:.*]] = tensor.extract_slice %arg1[0, %[[COLUMN]]] [128, %[[COLUMNS:.*]]] [1, 1]
// CHECK: %[[T:.*]] = attn.project_tile %[[X]], %[[W]] outs(
// CHECK: tensor.parallel_insert_slice %[[T]] into %[[O]][%[[ROW]], %[[COLUMN]]] [%[[ROWS]], %[[COLUMNS]]]
func.func @f(%x: tensor<?x128xf32>, %w: tensor<128x600xf32>) -> tensor<?x600xf32> {
  %y = attn.project %x, %w {schedule = #s} : (tensor<?x128xf32>, tensor<128x600xf32>) -> tensor<?x600xf32>
  return %y : tensor<?x600xf32>
}
