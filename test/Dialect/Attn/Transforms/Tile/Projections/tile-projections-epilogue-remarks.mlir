// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is not computed with the product in front, and why.
// RUN: attn-opt %s --attn-tile-projections --split-input-file --verify-diagnostics --remarks-filter-missed=attn-tile-projections --remark-policy=all
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @several_users(%x: tensor<5x4xf32>, %w: tensor<4x6xf32>) -> (tensor<5x6xf32>, tensor<5x6xf32>) {
  %y = attn.project %x, %w {schedule = #s} : (tensor<5x4xf32>, tensor<4x6xf32>) -> tensor<5x6xf32>
  // expected-remark @below {{math.exp is not computed with the product in front: the result has several users}}
  %b = math.exp %y : tensor<5x6xf32>
  return %y, %b : tensor<5x6xf32>, tensor<5x6xf32>
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @no_vector_code(%x: tensor<5x4xf32>, %w: tensor<4x6xf32>) -> tensor<5x6xf32> {
  %y = attn.project %x, %w {schedule = #s} : (tensor<5x4xf32>, tensor<4x6xf32>) -> tensor<5x6xf32>
  // expected-remark @below {{math.atan is not computed with the product in front: it computes what there is no vector code for}}
  %b = math.atan %y : tensor<5x6xf32>
  return %b : tensor<5x6xf32>
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @other_places(%x: tensor<5x4xf32>, %w: tensor<4x5xf32>, %e: tensor<5x5xf32>) -> tensor<5x5xf32> {
  %y = attn.project %x, %w {schedule = #s} : (tensor<5x4xf32>, tensor<4x5xf32>) -> tensor<5x5xf32>
  // expected-remark @below {{linalg.generic is not computed with the product in front: it reads other places}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (n, m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<5x5xf32>) outs(%e : tensor<5x5xf32>) {
  ^bb0(%s: f32, %o: f32):
    %u = arith.addf %s, %s : f32
    linalg.yield %u : f32
  } -> tensor<5x5xf32>
  return %r : tensor<5x5xf32>
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @booleans(%x: tensor<5x4xf32>, %w: tensor<4x6xf32>, %z: tensor<5x6xf32>) -> tensor<5x6xi1> {
  %y = attn.project %x, %w {schedule = #s} : (tensor<5x4xf32>, tensor<4x6xf32>) -> tensor<5x6xf32>
  // expected-remark @below {{arith.cmpf is not computed with the product in front: it gives booleans}}
  %b = arith.cmpf ogt, %y, %z : tensor<5x6xf32>
  return %b : tensor<5x6xi1>
}
