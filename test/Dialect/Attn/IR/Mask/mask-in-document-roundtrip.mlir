// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Positions in the query's document, of all terms that have one.
// CHECK-LABEL: func @positions
func.func @positions(%s: tensor<2x4x5x5xf32>, %d: tensor<3xi32>) -> tensor<2x4x5x5xf32> {
  // CHECK: where document(cumulative %{{.*}} : tensor<3xi32>) and causal(top_left in document) and causal(bottom_right in document)
  %0 = attn.mask %s where document(cumulative %d : tensor<3xi32>) and causal(top_left in document) and causal(bottom_right in document) : tensor<2x4x5x5xf32>
  // CHECK: where document(cumulative %{{.*}} : tensor<3xi32>) and window(left = 3, right = 0, top_left in document) and chunked(8, bottom_right in document) and dilated(2, top_left in document)
  %1 = attn.mask %0 where document(cumulative %d : tensor<3xi32>) and window(left = 3, right = 0, top_left in document) and chunked(8, bottom_right in document) and dilated(2, top_left in document) : tensor<2x4x5x5xf32>
  return %1 : tensor<2x4x5x5xf32>
}

// Chunks of a document in a tile op.
// CHECK-LABEL: func @origin
func.func @origin(%state: !attn.state<16 x 8 x 8, f32>, %k: memref<?x8xf32>, %i: index, %o: index) -> !attn.state<16 x 8 x 8, f32> {
  // CHECK: where chunked(8, from %{{.*}} : index) or chunked(8, from %{{.*}} : index, offset = %{{.*}} : index) mode
  %r = attn.online %state, %k, %k rows %i to %i keys from %i lengths %i, %i where chunked(8, from %o : index) or chunked(8, from %o : index, offset = %o : index) mode edge
      {schedule = #attn.cpu_schedule<lanes = 8, rows = 6, vectors = 2, query_tile = 16, key_tile = 96, unroll = 4, prefetch = 0>}
      : !attn.state<16 x 8 x 8, f32>, memref<?x8xf32>, memref<?x8xf32>
  return %r : !attn.state<16 x 8 x 8, f32>
}
