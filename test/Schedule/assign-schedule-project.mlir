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
// Of bf16 they multiply pairs or tiles, where input and weight are of it.
// RUN: attn-opt %s --attn-set-target=facts=lanes=16,registers=32,chains=4,pair_chains=6,products=dot --attn-assign-schedule | FileCheck %s --check-prefix=PAIRS
// RUN: attn-opt %s --attn-set-target=facts=lanes=16,registers=32,products=amx --attn-assign-schedule | FileCheck %s --check-prefix=TILES
// PAIRS-LABEL: @bf16
// PAIRS: attn.project {{.*}}schedule<lanes = 16, rows = 8, vectors = 3, query_tile = 96, key_tile = 2048, unroll = 4, prefetch = 2, products = dot>
// PAIRS: attn.project {{.*}}schedule<{{.*}}key_tile = 1024, unroll = 4, prefetch = 2>
// TILES-LABEL: @bf16
// TILES: attn.project {{.*}}schedule<lanes = 16, rows = 32, vectors = 2, query_tile = 256, key_tile = 512, unroll = 1, prefetch = 2, products = amx>
// Two multiply-adds of 512 bits per cycle (8 chains) fetch the next panel evenly.
// TILES: attn.project {{.*}}schedule<{{.*}}key_tile = 1024, unroll = 4, prefetch = 1>
func.func @f(%x: tensor<2x4xf32>, %w: tensor<4x6xf32>, %b: tensor<6xf32>) -> tensor<2x6xf32> {
  %y = attn.project %x, %w, %b : (tensor<2x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}
func.func @f64(%x: tensor<2x4xf64>, %w: tensor<4x6xf64>) -> tensor<2x6xf64> {
  %y = attn.project %x, %w : (tensor<2x4xf64>, tensor<4x6xf64>) -> tensor<2x6xf64>
  return %y : tensor<2x6xf64>
}
func.func @bf16(%x: tensor<9x4xbf16>, %w: tensor<4x4xbf16>, %f: tensor<4x4xf32>) -> (tensor<9x4xf32>, tensor<9x4xbf16>) {
  %y = attn.project %x, %w : (tensor<9x4xbf16>, tensor<4x4xbf16>) -> tensor<9x4xf32>
  %z = attn.project %x, %f : (tensor<9x4xbf16>, tensor<4x4xf32>) -> tensor<9x4xbf16>
  return %y, %z : tensor<9x4xf32>, tensor<9x4xbf16>
}

// Packing a weight that is an argument takes longer than few rows; a constant
// was packed before.
// PAIRS-LABEL: @few
// PAIRS: attn.project {{.*}} {schedule = #attn.cpu_schedule<{{[^>]*}}prefetch = 2>}
// PAIRS-LABEL: @unknown
// PAIRS: attn.project {{.*}}few_rows_schedule = #attn.cpu_schedule<{{[^>]*}}prefetch = 2>, schedule = #attn.cpu_schedule<{{[^>]*}}products = dot>}
// PAIRS-LABEL: @constant
// PAIRS-NOT: few_rows
// PAIRS: attn.project {{.*}} {schedule = #attn.cpu_schedule<{{[^>]*}}products = dot>}
// TILES-LABEL: @few
// TILES: attn.project {{.*}} {schedule = #attn.cpu_schedule<{{[^>]*}}products = amx>}
// TILES-LABEL: @four
// TILES: attn.project {{.*}} {schedule = #attn.cpu_schedule<{{[^>]*}}prefetch = 1>}
// TILES-LABEL: @unknown
// TILES: attn.project {{.*}}few_rows_schedule = #attn.cpu_schedule<{{[^>]*}}prefetch = 1>, schedule = #attn.cpu_schedule<{{[^>]*}}products = amx>}
func.func @few(%x: tensor<2x8x4xbf16>, %w: tensor<4x4xbf16>) -> tensor<2x8x4xbf16> {
  %y = attn.project %x, %w : (tensor<2x8x4xbf16>, tensor<4x4xbf16>) -> tensor<2x8x4xbf16>
  return %y : tensor<2x8x4xbf16>
}
func.func @four(%x: tensor<4x1x4xbf16>, %w: tensor<4x4xbf16>) -> tensor<4x1x4xbf16> {
  %y = attn.project %x, %w : (tensor<4x1x4xbf16>, tensor<4x4xbf16>) -> tensor<4x1x4xbf16>
  return %y : tensor<4x1x4xbf16>
}
func.func @unknown(%x: tensor<?x4xbf16>, %w: tensor<4x4xbf16>) -> tensor<?x4xbf16> {
  %y = attn.project %x, %w : (tensor<?x4xbf16>, tensor<4x4xbf16>) -> tensor<?x4xbf16>
  return %y : tensor<?x4xbf16>
}
func.func @constant(%x: tensor<?x4xbf16>) -> tensor<?x2xbf16> {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xbf16>
  %y = attn.project %x, %w : (tensor<?x4xbf16>, tensor<4x2xbf16>) -> tensor<?x2xbf16>
  return %y : tensor<?x2xbf16>
}
