// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// RUN: attn-opt %s --canonicalize | FileCheck %s --check-prefix=FOLDED
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-LABEL: func @dropout
// CHECK: attn.dropout %{{.*}} by 1.000000e-01 seed %{{.*}} : tensor<?x2x?x?xf32>, tensor<i64>
func.func @dropout(%w: tensor<?x2x?x?xf32>, %x: tensor<i64>) -> tensor<?x2x?x?xf32> {
  %d = attn.dropout %w by 0.1 seed %x : tensor<?x2x?x?xf32>, tensor<i64>
  return %d : tensor<?x2x?x?xf32>
}

// A dropout of nothing is nothing.
// FOLDED-LABEL: func @nothing
// FOLDED-NEXT: return %arg0
func.func @nothing(%w: tensor<5x6xf64>, %x: tensor<i64>) -> tensor<5x6xf64> {
  %d = attn.dropout %w by 0.0 seed %x : tensor<5x6xf64>, tensor<i64>
  return %d : tensor<5x6xf64>
}

// CHECK-LABEL: func @sdpa
// CHECK: attn.sdpa %{{.*}} scale 5.000000e-01 where causal(top_left) sinks %{{.*}} : tensor<1xf32> dropout 2.500000e-01 seed %{{.*}} : tensor<i64> returning(out, lse) :
func.func @sdpa(%q: tensor<5x8xf32>, %s: tensor<1xf32>, %x: tensor<i64>) -> (tensor<5x8xf32>, tensor<5xf32>) {
  %a, %l = attn.sdpa %q, %q, %q scale 0.5 where causal(top_left) sinks %s : tensor<1xf32> dropout 0.25 seed %x : tensor<i64> returning(out, lse)
      : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>, tensor<5xf32>)
  return %a, %l : tensor<5x8xf32>, tensor<5xf32>
}

// CHECK-LABEL: func @sdpa_grad
// CHECK: attn.sdpa_grad %{{.*}} scale 5.000000e-01 dropout 2.500000e-01 seed %{{.*}} : tensor<i64> out
func.func @sdpa_grad(%q: tensor<5x8xf32>, %l: tensor<5xf32>, %x: tensor<i64>) -> tensor<5x8xf32> {
  %g = attn.sdpa_grad %q, %q, %q scale 0.5 dropout 0.25 seed %x : tensor<i64> out %q : tensor<5x8xf32> lse %l : tensor<5xf32> cotangents %q wrt ["query"]
      : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>)
  return %g : tensor<5x8xf32>
}
