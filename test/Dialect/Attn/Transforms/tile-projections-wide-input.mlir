// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// However many inputs, a tile has one panel of columns at least.
// RUN: attn-opt %s --attn-tile-projections --canonicalize --cse | FileCheck %s
#s = #attn.schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f
// CHECK: scf.forall {{.*}} in (%{{.*}}, 3)
// CHECK: arith.minui %{{.*}}, %c4 : index
// CHECK: attn.project_tile
func.func @f(%x: tensor<?x100000xf32>, %w: tensor<100000x10xf32>) -> tensor<?x10xf32> {
  %y = attn.project %x, %w {schedule = #s} : (tensor<?x100000xf32>, tensor<100000x10xf32>) -> tensor<?x10xf32>
  return %y : tensor<?x10xf32>
}
