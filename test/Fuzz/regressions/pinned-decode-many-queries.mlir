// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --emit=llvm
#d = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 8, key_tile = 16, unroll = 2, prefetch = 0, kind = decode, split_keys = 64>
#p = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 16, unroll = 1, prefetch = 0>
func.func @unknown(%q: tensor<4096x2x4096x8xf32>, %k: tensor<4096x2x4096x8xf32>, %v: tensor<4096x2x4096x4xf32>) -> tensor<4096x2x4096x4xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.5 {schedule = #p, decode_schedule = #d} : (tensor<4096x2x4096x8xf32>, tensor<4096x2x4096x8xf32>, tensor<4096x2x4096x4xf32>) -> tensor<4096x2x4096x4xf32>
  return %o : tensor<4096x2x4096x4xf32>
}
