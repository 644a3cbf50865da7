// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A projection gets the register tile of the target; its number of rows does
// not make the tile smaller.
// RUN: attn-opt %s --attn-assign-schedule | FileCheck %s --check-prefix=AVX2
// RUN: attn-opt %s --attn-set-target=facts=lanes=4,registers=32 --attn-assign-schedule | FileCheck %s --check-prefix=NEON

// AVX2: attn.project {{.*}}schedule<lanes = 8, rows = 6, vectors = 2, query_tile = 128,
// NEON: attn.project {{.*}}schedule<lanes = 4, rows = 4, vectors = 4, query_tile = 128,
func.func @f(%x: tensor<2x4xf32>, %w: tensor<4x6xf32>, %b: tensor<6xf32>) -> tensor<2x6xf32> {
  %y = attn.project %x, %w, %b : (tensor<2x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}
