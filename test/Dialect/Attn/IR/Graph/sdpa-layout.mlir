// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bhsd is the default and is not printed; every layout is its own attribute.
// CHECK-LABEL: func @all_bhsd
// CHECK-NOT: layout
// CHECK: return
func.func @all_bhsd(%q: tensor<2x4x5x8xf32>) -> tensor<2x4x5x8xf32> {
  %o = attn.sdpa %q, %q, %q scale 0.5 {query_layout = #attn<layout bhsd>, out_layout = #attn<layout bhsd>}
      : (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x5x8xf32>
  return %o : tensor<2x4x5x8xf32>
}

// CHECK-LABEL: func @all_bshd
// CHECK: {key_layout = #attn<layout bshd>, out_layout = #attn<layout bshd>, query_layout = #attn<layout bshd>, value_layout = #attn<layout bshd>}
func.func @all_bshd(%q: tensor<2x5x4x8xf32>, %k: tensor<2x6x2x8xf32>) -> tensor<2x5x4x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 {query_layout = #attn<layout bshd>, key_layout = #attn<layout bshd>, value_layout = #attn<layout bshd>, out_layout = #attn<layout bshd>}
      : (tensor<2x5x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>) -> tensor<2x5x4x8xf32>
  return %o : tensor<2x5x4x8xf32>
}

// CHECK-LABEL: func @rank_3_shd
// CHECK: {out_layout = #attn<layout bshd>}
func.func @rank_3_shd(%q: tensor<4x5x8xf32>, %k: tensor<2x6x8xf32>) -> tensor<5x4x8xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 {out_layout = #attn<layout bshd>}
      : (tensor<4x5x8xf32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>) -> tensor<5x4x8xf32>
  return %o : tensor<5x4x8xf32>
}
