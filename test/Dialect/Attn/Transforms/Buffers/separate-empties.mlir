// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s -split-input-file -attn-separate-empties | FileCheck %s
// RUN: attn-opt %S/Inputs/chained-documents.mlir --target=x86-64-v3 --compile-to=buffers | FileCheck %s --check-prefix=BUFFERS --implicit-check-not='memref.copy %arg'

// Casts first: each has its own empty tensor then.
// CHECK-LABEL: func.func @casts
// CHECK: %[[E0:.*]] = tensor.empty(%{{.*}}) : tensor<?x8xf32>
// CHECK: %[[E1:.*]] = tensor.empty(%{{.*}}) : tensor<?x8xf32>
// CHECK: %[[E2:.*]] = tensor.empty(%{{.*}}) : tensor<?x8xf32>
// CHECK: %[[C2:.*]] = tensor.cast %[[E2]]
// CHECK: %[[C1:.*]] = tensor.cast %[[E1]]
// CHECK: linalg.fill ins(%{{.*}}) outs(%[[C2]] :
// CHECK: linalg.fill ins(%{{.*}}) outs(%[[C1]] :
// CHECK: linalg.fill ins(%{{.*}}) outs(%[[E0]] :
func.func @casts(%n: index, %x: f32) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x8xf32>) {
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %cast = tensor.cast %e : tensor<?x8xf32> to tensor<?x?xf32>
  %a = linalg.fill ins(%x : f32) outs(%cast : tensor<?x?xf32>) -> tensor<?x?xf32>
  %b = linalg.fill ins(%x : f32) outs(%cast : tensor<?x?xf32>) -> tensor<?x?xf32>
  %c = linalg.fill ins(%x : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %a, %b, %c : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x8xf32>
}

// -----

// CHECK-LABEL: func.func @one_use
// CHECK: tensor.empty
// CHECK-NOT: tensor.empty
func.func @one_use(%x: f32) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.fill ins(%x : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}

// The first attention, whose loop over documents carries its result, does not
// begin with a copy of the caller's memory for the second one's.
// BUFFERS: func.func private @chained.kernel
