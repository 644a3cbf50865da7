// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.project_tile accepts; the numbers are those of docs/Spec.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @project_tile_c1_matrices(%x: memref<5x6xf32>, %w: memref<6x4xf32>, %o: memref<5x4xf32>) {
  attn.project_tile %x, %w outs(%o : memref<5x4xf32>) {schedule = #s}
      : memref<5x6xf32>, memref<6x4xf32>
  return
}

func.func @project_tile_c2_unknown_rows(%x: memref<?x6xf32>, %w: memref<6x4xf32>, %o: memref<5x4xf32>) {
  attn.project_tile %x, %w outs(%o : memref<5x4xf32>) {schedule = #s}
      : memref<?x6xf32>, memref<6x4xf32>
  return
}

func.func @project_tile_c3_bias_per_column(%x: memref<5x6xf32>, %w: memref<6x4xf32>, %o: memref<5x4xf32>, %b: memref<4xf32>) {
  attn.project_tile %x, %w bias %b : memref<4xf32> outs(%o : memref<5x4xf32>) {schedule = #s}
      : memref<5x6xf32>, memref<6x4xf32>
  return
}

func.func @project_tile_c4_result_per_tensor(%x: tensor<5x6xf32>, %w: tensor<6x4xf32>, %o: tensor<5x4xf32>) {
  %r = attn.project_tile %x, %w outs(%o : tensor<5x4xf32>) {schedule = #s}
      : tensor<5x6xf32>, tensor<6x4xf32> -> tensor<5x4xf32>
  return
}

func.func @project_tile_c5_panels(%x: memref<5x6xf32>, %w: memref<2x6x4xf32>, %o: memref<5x7xf32>, %b: memref<7xf32>) {
  attn.project_tile %x, %w bias %b : memref<7xf32> outs(%o : memref<5x7xf32>) {schedule = #s}
      : memref<5x6xf32>, memref<2x6x4xf32>
  return
}

func.func @project_tile_c5_unknown_panels(%x: memref<5x6xf32>, %w: memref<?x6x4xf32>, %o: memref<5x?xf32>) {
  attn.project_tile %x, %w outs(%o : memref<5x?xf32>) {schedule = #s}
      : memref<5x6xf32>, memref<?x6x4xf32>
  return
}

func.func @project_tile_c6_single(%x: memref<5x6xbf16>, %w: memref<6x4xbf16>, %o: memref<5x4xbf16>) {
  attn.project_tile %x, %w outs(%o : memref<5x4xbf16>) {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = fma>}
      : memref<5x6xbf16>, memref<6x4xbf16>
  return
}

func.func @project_tile_c7_transposed(%x: memref<5x6xf32>, %w: memref<4x6xf32>, %o: memref<5x4xf32>) {
  attn.project_tile %x, %w transposed outs(%o : memref<5x4xf32>) {schedule = #s}
      : memref<5x6xf32>, memref<4x6xf32>
  return
}

func.func @project_tile_c8_largest(%x: memref<16x6xf32>, %w: memref<6x768xf32>, %o: memref<16x768xf32>) {
  attn.project_tile %x, %w outs(%o : memref<16x768xf32>) {schedule = #s}
      : memref<16x6xf32>, memref<6x768xf32>
  return
}

func.func @project_tile_c9_epilogue(%x: memref<5x6xf32>, %w: memref<6x4xf32>, %c: memref<?x4xf16>, %d: memref<4xf32>, %o: memref<5x4xf16>) {
  attn.project_tile %x, %w with %c, %d : memref<?x4xf16>, memref<4xf32> epilogue {
  ^bb0(%s: f32, %a: f16, %b: f32):
    attn.yield %a : f16
  } outs(%o : memref<5x4xf16>) {schedule = #s} : memref<5x6xf32>, memref<6x4xf32>
  return
}
