// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.project_block accepts; the numbers are those of docs/SpecTiles.md.
#s = #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 4, kind = prefill>

func.func @project_block_c1_matrices(%x: memref<?x6xf32>, %w: memref<6x4xf32>, %o: memref<?x4xf32>) {
  attn.project_block %x, %w outs(%o : memref<?x4xf32>) {schedule = #s} : memref<?x6xf32>, memref<6x4xf32>
  return
}

func.func @project_block_c1_transposed(%x: memref<5x6xf16>, %w: memref<4x6xf16>, %o: memref<5x4xf32>) {
  attn.project_block %x, %w transposed outs(%o : memref<5x4xf32>) {schedule = #s} : memref<5x6xf16>, memref<4x6xf16>
  return
}

func.func @project_block_c2_all_columns(%x: memref<5x1xf16>, %w: memref<1x32xf16>, %o: memref<5x32xf16>) {
  attn.project_block %x, %w outs(%o : memref<5x32xf16>) {schedule = #s} : memref<5x1xf16>, memref<1x32xf16>
  return
}

func.func @project_block_c3_bf16(%x: memref<5x6xbf16>, %w: memref<6x4xbf16>, %o: memref<5x4xbf16>) {
  attn.project_block %x, %w outs(%o : memref<5x4xbf16>) {schedule = #s} : memref<5x6xbf16>, memref<6x4xbf16>
  return
}

func.func @project_block_c4_bias_per_column(%x: memref<5x6xf16>, %w: memref<6x4xf16>, %b: memref<4xf32>, %o: memref<5x4xf16>) {
  attn.project_block %x, %w bias %b : memref<4xf32> outs(%o : memref<5x4xf16>) {schedule = #s} : memref<5x6xf16>, memref<6x4xf16>
  return
}

func.func @project_block_c5_result_per_tensor(%x: tensor<5x6xf32>, %w: tensor<6x4xf32>, %o: tensor<5x4xf32>) {
  %r = attn.project_block %x, %w outs(%o : tensor<5x4xf32>) {schedule = #s} : tensor<5x6xf32>, tensor<6x4xf32> -> tensor<5x4xf32>
  return
}

func.func @project_block_c6_epilogue(%x: memref<5x6xf16>, %w: memref<6x4xf16>, %c: memref<5x4xf16>, %r: memref<4xf32>, %o: memref<5x4xf32>) {
  attn.project_block %x, %w with %c, %r : memref<5x4xf16>, memref<4xf32> epilogue {
  ^bb0(%s: f16, %a: f16, %b: f32):
    %t = arith.addf %s, %a : f16
    %u = arith.extf %t : f16 to f32
    %y = arith.mulf %u, %b : f32
    attn.yield %y : f32
  } outs(%o : memref<5x4xf32>) {schedule = #s} : memref<5x6xf16>, memref<6x4xf16>
  return
}
