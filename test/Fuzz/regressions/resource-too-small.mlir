// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --emit=obj
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
func.func @dense(%x: tensor<?x2xf32>) -> tensor<?x5xf32> {
  %w = arith.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0, 9.0]]> : tensor<2x5xf32>
  %y = attn.project %x, %w {schedule = #s} : (tensor<?x2xf32>, tensor<2x5xf32>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}
func.func @splat(%x: tensor<?x2xf32>) -> tensor<?x5xf32> {
  %w = arith.constant dense<2.0> : tensor<2x5xf32>
  %y = attn.project %x, %w {schedule = #s} : (tensor<?x2xf32>, tensor<2x5xf32>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}
func.func @resource(%x: tensor<?x15xf16>) -> tensor<?x5xf16> {
  %w = arith.constant dense_resource<weight> : tensor<15x5xf16>
  %y = attn.project %x, %w {schedule = #s} : (tensor<?x15xf16>, tensor<15x5xf16>) -> tensor<?x5xf16>
  return %y : tensor<?x5xf16>
}

{-#
  dialect_resources: {
    builtin: { weight: "0x0200000001000200030004000500" }
  }
#-}
