// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.project_tile rejects; the numbers are those of docs/Spec.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @project_tile_c1_weight_of_rank_1(%x: memref<5x6xf32>, %w: memref<6xf32>, %o: memref<5x4xf32>) {
  // expected-error@+1 {{expects the weight to be a matrix of any number of columns, but got 'memref<6xf32>'}}
  attn.project_tile %x, %w outs(%o : memref<5x4xf32>) {schedule = #s}
      : memref<5x6xf32>, memref<6xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @project_tile_c1_panels_of_other_inner(%x: memref<5x6xf32>, %w: memref<1x7x4xf32>, %o: memref<5x4xf32>) {
  // expected-error@+1 {{expects the input to be a matrix of 7 columns, but got 'memref<5x6xf32>'}}
  attn.project_tile %x, %w outs(%o : memref<5x4xf32>) {schedule = #s}
      : memref<5x6xf32>, memref<1x7x4xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @project_tile_c1_other_inner(%x: memref<5x6xf32>, %w: memref<7x4xf32>, %o: memref<5x4xf32>) {
  // expected-error@+1 {{expects the input to be a matrix of 7 columns, but got 'memref<5x6xf32>'}}
  attn.project_tile %x, %w outs(%o : memref<5x4xf32>) {schedule = #s}
      : memref<5x6xf32>, memref<7x4xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @project_tile_c1_other_outer(%x: memref<5x6xf32>, %w: memref<6x4xf32>, %o: memref<5x3xf32>) {
  // expected-error@+1 {{expects out to be a matrix of 4 columns, but got 'memref<5x3xf32>'}}
  attn.project_tile %x, %w outs(%o : memref<5x3xf32>) {schedule = #s}
      : memref<5x6xf32>, memref<6x4xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @project_tile_c2_other_rows(%x: memref<3x6xf32>, %w: memref<6x4xf32>, %o: memref<5x4xf32>) {
  // expected-error@+1 {{expects a row of out per row of the input, but got 5 and 3}}
  attn.project_tile %x, %w outs(%o : memref<5x4xf32>) {schedule = #s}
      : memref<3x6xf32>, memref<6x4xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @project_tile_c3_bias_of_other_size(%x: memref<5x6xf32>, %w: memref<6x4xf32>, %o: memref<5x4xf32>, %b: memref<1xf32>) {
  // expected-error@+1 {{expects the bias to have one element per column of the weight, but got 'memref<1xf32>'}}
  attn.project_tile %x, %w bias %b : memref<1xf32> outs(%o : memref<5x4xf32>) {schedule = #s}
      : memref<5x6xf32>, memref<6x4xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @project_tile_c3_bias_matrix(%x: memref<5x6xf32>, %w: memref<6x4xf32>, %o: memref<5x4xf32>, %b: memref<5x4xf32>) {
  // expected-error@+1 {{expects the bias to have one element per column of the weight, but got 'memref<5x4xf32>'}}
  attn.project_tile %x, %w bias %b : memref<5x4xf32> outs(%o : memref<5x4xf32>) {schedule = #s}
      : memref<5x6xf32>, memref<6x4xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @project_tile_c4_no_result(%x: tensor<5x6xf32>, %w: tensor<6x4xf32>, %o: tensor<5x4xf32>) {
  // expected-error@+1 {{expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  attn.project_tile %x, %w outs(%o : tensor<5x4xf32>) {schedule = #s}
      : tensor<5x6xf32>, tensor<6x4xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @project_tile_c5_other_panel(%x: memref<5x6xf32>, %w: memref<1x6x8xf32>, %o: memref<5x4xf32>) {
  // expected-error@+1 {{expects panels of the schedule's 4 columns, but got 'memref<1x6x8xf32>'}}
  attn.project_tile %x, %w outs(%o : memref<5x4xf32>) {schedule = #s}
      : memref<5x6xf32>, memref<1x6x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @project_tile_c5_panel_missing(%x: memref<5x6xf32>, %w: memref<1x6x4xf32>, %o: memref<5x5xf32>) {
  // expected-error@+1 {{expects as many panels as hold 5 columns, but got 'memref<1x6x4xf32>'}}
  attn.project_tile %x, %w outs(%o : memref<5x5xf32>) {schedule = #s}
      : memref<5x6xf32>, memref<1x6x4xf32>
  return
}

// -----

func.func @project_tile_c6_pairs(%x: memref<5x6xf32>, %w: memref<6x4xbf16>, %o: memref<5x4xbf16>) {
  // expected-error@+1 {{expects elements of bf16 for products = dot, but got 'memref<5x6xf32>'}}
  attn.project_tile %x, %w outs(%o : memref<5x4xbf16>) {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>}
      : memref<5x6xf32>, memref<6x4xbf16>
  return
}

// -----

func.func @project_tile_c6_tiles(%x: memref<5x6xbf16>, %w: memref<6x4xf16>, %o: memref<5x4xbf16>) {
  // expected-error@+1 {{expects elements of bf16 for products = amx, but got 'memref<6x4xf16>'}}
  attn.project_tile %x, %w outs(%o : memref<5x4xbf16>) {schedule = #attn.cpu_schedule<lanes = 16, rows = 32, vectors = 2, query_tile = 32, key_tile = 64, unroll = 1, prefetch = 0, products = amx>}
      : memref<5x6xbf16>, memref<6x4xf16>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>

func.func @project_tile_c5_pairs(%x: memref<5x7xbf16>, %w: memref<1x3x8xbf16>, %o: memref<5x4xbf16>) {
  // expected-error@+1 {{expects panels that hold 7 rows in pairs, but got 'memref<1x3x8xbf16>'}}
  attn.project_tile %x, %w outs(%o : memref<5x4xbf16>) {schedule = #s}
      : memref<5x7xbf16>, memref<1x3x8xbf16>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @project_tile_c1_transposed(%x: memref<5x6xf32>, %w: memref<6x4xf32>, %o: memref<5x6xf32>) {
  // expected-error@+1 {{expects the input to be a matrix of 4 columns, but got 'memref<5x6xf32>'}}
  attn.project_tile %x, %w transposed outs(%o : memref<5x6xf32>) {schedule = #s}
      : memref<5x6xf32>, memref<6x4xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @project_tile_c7_transposed_panels(%x: memref<5x6xf32>, %w: memref<1x6x4xf32>, %o: memref<5x4xf32>) {
  // expected-error@+1 {{expects panels that are not transposed}}
  attn.project_tile %x, %w transposed outs(%o : memref<5x4xf32>) {schedule = #s}
      : memref<5x6xf32>, memref<1x6x4xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @project_tile_c8_rows(%x: memref<17x6xf32>, %w: memref<6x4xf32>, %o: memref<17x4xf32>) {
  // expected-error@+1 {{expects at most 16 rows and 768 columns, but got 'memref<17x4xf32>'}}
  attn.project_tile %x, %w outs(%o : memref<17x4xf32>) {schedule = #s}
      : memref<17x6xf32>, memref<6x4xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @project_tile_c8_columns(%x: memref<5x6xf32>, %w: memref<6x769xf32>, %o: memref<5x769xf32>) {
  // expected-error@+1 {{expects at most 16 rows and 768 columns, but got 'memref<5x769xf32>'}}
  attn.project_tile %x, %w outs(%o : memref<5x769xf32>) {schedule = #s}
      : memref<5x6xf32>, memref<6x769xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @project_tile_c9_captures_alone(%x: memref<5x6xf32>, %w: memref<6x4xf32>, %c: memref<5x4xf32>, %o: memref<5x4xf32>) {
  // expected-error@+1 {{expects an epilogue where there are captures}}
  attn.project_tile %x, %w with %c : memref<5x4xf32> outs(%o : memref<5x4xf32>) {schedule = #s} : memref<5x6xf32>, memref<6x4xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @project_tile_c9_other_result(%x: memref<5x6xf32>, %w: memref<6x4xf32>, %o: memref<5x4xf16>) {
  // expected-error@+1 {{expects an epilogue of a sum and 0 captured numbers that yields 'f16'}}
  attn.project_tile %x, %w epilogue {
  ^bb0(%s: f32):
    attn.yield %s : f32
  } outs(%o : memref<5x4xf16>) {schedule = #s} : memref<5x6xf32>, memref<6x4xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @project_tile_c9_other_capture(%x: memref<5x6xf32>, %w: memref<6x4xf32>, %c: memref<4x5xf32>, %o: memref<5x4xf32>) {
  // expected-error@+1 {{expects an epilogue to capture matrices like out and rows of it, but got 'memref<4x5xf32>' as 'f32'}}
  attn.project_tile %x, %w with %c : memref<4x5xf32> epilogue {
  ^bb0(%s: f32, %r: f32):
    %t = arith.addf %s, %r : f32
    attn.yield %t : f32
  } outs(%o : memref<5x4xf32>) {schedule = #s} : memref<5x6xf32>, memref<6x4xf32>
  return
}
