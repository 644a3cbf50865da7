// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-LABEL: func @sigmoid
// CHECK: attn.sigmoid %{{.*}} : tensor<5x6xf32>
func.func @sigmoid(%s: tensor<5x6xf32>) -> tensor<5x6xf32> {
  %w = attn.sigmoid %s : tensor<5x6xf32>
  return %w : tensor<5x6xf32>
}

// An attn.sdpa says so; softmax is not printed.
// CHECK-LABEL: func @sdpa
// CHECK: attn.sdpa %{{.*}} scale 5.000000e-01 {normalization = #attn<normalization sigmoid>} :
// CHECK: attn.sdpa %{{.*}} scale 5.000000e-01 :
func.func @sdpa(%q: tensor<5x8xf32>) -> (tensor<5x8xf32>, tensor<5x8xf32>) {
  %a = attn.sdpa %q, %q, %q scale 0.5 {normalization = #attn<normalization sigmoid>} : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %b = attn.sdpa %q, %q, %q scale 0.5 {normalization = #attn<normalization softmax>} : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return %a, %b : tensor<5x8xf32>, tensor<5x8xf32>
}
