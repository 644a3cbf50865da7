// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.project_block rejects; the numbers are those of docs/SpecTiles.md.
#s = #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 4, kind = prefill>

func.func @project_block_c1_weight_of_rank_1(%x: memref<5x6xf32>, %w: memref<6xf32>, %o: memref<5x4xf32>) {
  // expected-error@+1 {{expects the weight to be a matrix of any number of columns, but got 'memref<6xf32>'}}
  attn.project_block %x, %w outs(%o : memref<5x4xf32>) {schedule = #s} : memref<5x6xf32>, memref<6xf32>
  return
}

// -----

#s = #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 4, kind = prefill>

func.func @project_block_c1_other_inner(%x: memref<5x6xf32>, %w: memref<7x4xf32>, %o: memref<5x4xf32>) {
  // expected-error@+1 {{expects the input to be a matrix of 7 columns, but got 'memref<5x6xf32>'}}
  attn.project_block %x, %w outs(%o : memref<5x4xf32>) {schedule = #s} : memref<5x6xf32>, memref<7x4xf32>
  return
}

// -----

#s = #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 4, kind = prefill>

func.func @project_block_c1_other_outer(%x: memref<5x6xf32>, %w: memref<6x4xf32>, %o: memref<5x3xf32>) {
  // expected-error@+1 {{expects out to be a matrix of 4 columns, but got 'memref<5x3xf32>'}}
  attn.project_block %x, %w outs(%o : memref<5x3xf32>) {schedule = #s} : memref<5x6xf32>, memref<6x4xf32>
  return
}

// -----

#s = #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 4, kind = prefill>

func.func @project_block_c2_unknown_depth(%x: memref<5x?xf32>, %w: memref<?x4xf32>, %o: memref<5x4xf32>) {
  // expected-error@+1 {{expects a weight of known size that has at most 32 columns, but got 'memref<?x4xf32>'}}
  attn.project_block %x, %w outs(%o : memref<5x4xf32>) {schedule = #s} : memref<5x?xf32>, memref<?x4xf32>
  return
}

// -----

#s = #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 4, kind = prefill>

func.func @project_block_c2_too_wide(%x: memref<5x6xf32>, %w: memref<6x33xf32>, %o: memref<5x33xf32>) {
  // expected-error@+1 {{expects a weight of known size that has at most 32 columns, but got 'memref<6x33xf32>'}}
  attn.project_block %x, %w outs(%o : memref<5x33xf32>) {schedule = #s} : memref<5x6xf32>, memref<6x33xf32>
  return
}

// -----

#s = #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 4, kind = prefill>

func.func @project_block_c3_f64(%x: memref<5x6xf64>, %w: memref<6x4xf64>, %o: memref<5x4xf64>) {
  // expected-error@+1 {{expects input and weight of f16, bf16 or f32, but got 'memref<5x6xf64>' and 'memref<6x4xf64>'}}
  attn.project_block %x, %w outs(%o : memref<5x4xf64>) {schedule = #s} : memref<5x6xf64>, memref<6x4xf64>
  return
}

// -----

#s = #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 4, kind = prefill>

func.func @project_block_c3_two_types(%x: memref<5x6xf16>, %w: memref<6x4xf32>, %o: memref<5x4xf32>) {
  // expected-error@+1 {{expects input and weight of f16, bf16 or f32, but got 'memref<5x6xf16>' and 'memref<6x4xf32>'}}
  attn.project_block %x, %w outs(%o : memref<5x4xf32>) {schedule = #s} : memref<5x6xf16>, memref<6x4xf32>
  return
}

// -----

#s = #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 4, kind = prefill>

func.func @project_block_c4_bias_of_rows(%x: memref<5x6xf32>, %w: memref<6x4xf32>, %b: memref<5xf32>, %o: memref<5x4xf32>) {
  // expected-error@+1 {{expects the bias to have one element per column of the weight, but got 'memref<5xf32>'}}
  attn.project_block %x, %w bias %b : memref<5xf32> outs(%o : memref<5x4xf32>) {schedule = #s} : memref<5x6xf32>, memref<6x4xf32>
  return
}

// -----

#s = #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 4, kind = prefill>

func.func @project_block_c5_no_result(%x: tensor<5x6xf32>, %w: tensor<6x4xf32>, %o: tensor<5x4xf32>) {
  // expected-error@+1 {{expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  attn.project_block %x, %w outs(%o : tensor<5x4xf32>) {schedule = #s} : tensor<5x6xf32>, tensor<6x4xf32>
  return
}

// -----

#s = #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 4, kind = prefill>

func.func @project_block_c6_no_epilogue(%x: memref<5x6xf32>, %w: memref<6x4xf32>, %c: memref<5x4xf32>, %o: memref<5x4xf32>) {
  // expected-error@+1 {{expects an epilogue where there are captures}}
  attn.project_block %x, %w with %c : memref<5x4xf32> outs(%o : memref<5x4xf32>) {schedule = #s} : memref<5x6xf32>, memref<6x4xf32>
  return
}

// -----

#s = #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 4, kind = prefill>

func.func @project_block_c6_other_type(%x: memref<5x6xf32>, %w: memref<6x4xf32>, %o: memref<5x4xf16>) {
  // expected-error@+1 {{expects an epilogue of a sum and 0 captured numbers that yields 'f16'}}
  attn.project_block %x, %w epilogue {
  ^bb0(%s: f32):
    attn.yield %s : f32
  } outs(%o : memref<5x4xf16>) {schedule = #s} : memref<5x6xf32>, memref<6x4xf32>
  return
}
