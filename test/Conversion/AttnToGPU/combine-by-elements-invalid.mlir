// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-combine-by-elements --verify-diagnostics

func.func @of_a_processor(%parts: memref<1x4x10xf32>, %out: memref<4x8xf32>) {
  // expected-error@+1 {{expects a schedule for a GPU, and parts in memory}}
  attn.combine %parts outs(%out : memref<4x8xf32>) {schedule = #attn.cpu_schedule<lanes = 1, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>} : memref<1x4x10xf32>
  return
}
