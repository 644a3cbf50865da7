// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heads out of the model dimension.
// CHECK-LABEL: func @batched
// CHECK: attn.split_heads %{{.*}} into 4 : tensor<?x?x64xf32> -> tensor<?x4x?x16xf32>
func.func @batched(%x: tensor<?x?x64xf32>) -> tensor<?x4x?x16xf32> {
  %h = attn.split_heads %x into 4 : tensor<?x?x64xf32> -> tensor<?x4x?x16xf32>
  return %h : tensor<?x4x?x16xf32>
}

// CHECK-LABEL: func @unbatched
// CHECK: attn.split_heads %{{.*}} into 2 : tensor<5x6xf16> -> tensor<2x5x3xf16>
func.func @unbatched(%x: tensor<5x6xf16>) -> tensor<2x5x3xf16> {
  %h = attn.split_heads %x into 2 : tensor<5x6xf16> -> tensor<2x5x3xf16>
  return %h : tensor<2x5x3xf16>
}
