// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK: %out, %lse = attn.finalize_state %{{.*}}, %{{.*}}, %{{.*}} : (tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>) -> (tensor<5x8xf16>, tensor<5xf32>)
// CHECK: attn.finalize_state %{{.*}} : (tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
func.func @finalize(%m: tensor<5xf32>, %l: tensor<5xf32>, %a: tensor<5x8xf32>) -> (tensor<5x8xf16>, tensor<5xf32>, tensor<5x8xf32>) {
  %o, %e = attn.finalize_state %m, %l, %a : (tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>) -> (tensor<5x8xf16>, tensor<5xf32>)
  %p = attn.finalize_state %m, %l, %a : (tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o, %e, %p : tensor<5x8xf16>, tensor<5xf32>, tensor<5x8xf32>
}
