// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heads into the model dimension.
// CHECK-LABEL: func @batched
// CHECK: attn.merge_heads %{{.*}} : tensor<?x4x?x16xf32> -> tensor<?x?x64xf32>
func.func @batched(%x: tensor<?x4x?x16xf32>) -> tensor<?x?x64xf32> {
  %j = attn.merge_heads %x : tensor<?x4x?x16xf32> -> tensor<?x?x64xf32>
  return %j : tensor<?x?x64xf32>
}

// CHECK-LABEL: func @unbatched
// CHECK: attn.merge_heads %{{.*}} : tensor<2x5x3xf16> -> tensor<5x6xf16>
func.func @unbatched(%x: tensor<2x5x3xf16>) -> tensor<5x6xf16> {
  %j = attn.merge_heads %x : tensor<2x5x3xf16> -> tensor<5x6xf16>
  return %j : tensor<5x6xf16>
}
