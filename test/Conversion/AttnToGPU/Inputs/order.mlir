// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels for few rows, for few tiles, and with the tiles of many; features that are no whole number of parts.

func.func @halves(%x: tensor<?x100xf16>, %w: tensor<130x100xf16>) -> tensor<?x130xf32> {
  %0 = attn.project %x, %w transposed : (tensor<?x100xf16>, tensor<130x100xf16>) -> tensor<?x130xf32>
  return %0 : tensor<?x130xf32>
}
func.func @halves_many(%x: tensor<?x100xf16>, %w: tensor<130x100xf16>) -> tensor<?x130xf32> {
  %0 = attn.project %x, %w transposed {schedule = #attn.gpu_schedule<query_tile = 128, key_tile = 128, warps = 4, kind = prefill>}
      : (tensor<?x100xf16>, tensor<130x100xf16>) -> tensor<?x130xf32>
  return %0 : tensor<?x130xf32>
}

func.func @singles(%x: tensor<?x300xf32>, %w: tensor<300x70xf32>) -> tensor<?x70xf32> {
  %0 = attn.project %x, %w : (tensor<?x300xf32>, tensor<300x70xf32>) -> tensor<?x70xf32>
  return %0 : tensor<?x70xf32>
}
func.func @singles_many(%x: tensor<?x300xf32>, %w: tensor<300x70xf32>) -> tensor<?x70xf32> {
  %0 = attn.project %x, %w {schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 64, warps = 4, kind = prefill>}
      : (tensor<?x300xf32>, tensor<300x70xf32>) -> tensor<?x70xf32>
  return %0 : tensor<?x70xf32>
}
