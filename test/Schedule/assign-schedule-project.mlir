// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A projection gets register tiles and blocks of its own; its number of rows
// does not make them smaller. Those of f64 have half as many products.
// RUN: attn-opt %s --attn-assign-schedule | FileCheck %s --check-prefix=AVX2
// RUN: attn-opt %s --attn-set-target=facts=lanes=4,registers=32 --attn-assign-schedule | FileCheck %s --check-prefix=NEON
// RUN: attn-opt %s --attn-set-target=facts=lanes=16,registers=32 --attn-assign-schedule | FileCheck %s --check-prefix=AVX512

// AVX2: attn.project {{.*}}schedule<lanes = 8, rows = 6, vectors = 2, query_tile = 96, key_tile = 1026,
// NEON: attn.project {{.*}}schedule<lanes = 4, rows = 4, vectors = 5, query_tile = 100, key_tile = 1024,
// AVX512: attn.project {{.*}}schedule<lanes = 16, rows = 8, vectors = 3, query_tile = 96, key_tile = 1024,
// AVX512: attn.project {{.*}}schedule<lanes = 8, rows = 8, vectors = 3, query_tile = 96, key_tile = 512,
func.func @f(%x: tensor<2x4xf32>, %w: tensor<4x6xf32>, %b: tensor<6xf32>) -> tensor<2x6xf32> {
  %y = attn.project %x, %w, %b : (tensor<2x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}
func.func @f64(%x: tensor<2x4xf64>, %w: tensor<4x6xf64>) -> tensor<2x6xf64> {
  %y = attn.project %x, %w : (tensor<2x4xf64>, tensor<4x6xf64>) -> tensor<2x6xf64>
  return %y : tensor<2x6xf64>
}
