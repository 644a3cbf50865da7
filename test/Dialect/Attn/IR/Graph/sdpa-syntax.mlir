// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Optional parts of attn.sdpa.
// CHECK-LABEL: func @returning_out
// CHECK: attn.sdpa %{{.*}}, %{{.*}}, %{{.*}} scale 5.000000e-01 : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> tensor<5x3xf32>
func.func @returning_out(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) -> tensor<5x3xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.5 returning(out) : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> tensor<5x3xf32>
  return %o : tensor<5x3xf32>
}

// A later result does not need the earlier optional ones.
// CHECK-LABEL: func @returning_weights
// CHECK: %[[O:.*]], %[[W:.*]] = attn.sdpa {{.*}} returning(out, weights) : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> (tensor<5x3xf32>, tensor<5x6xf32>)
// CHECK: return %[[W]]
func.func @returning_weights(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) -> tensor<5x6xf32> {
  %o, %w = attn.sdpa %q, %k, %v scale 0.5 returning(out, weights) : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> (tensor<5x3xf32>, tensor<5x6xf32>)
  return %w : tensor<5x6xf32>
}

// CHECK-LABEL: func @empty_attributes
// CHECK: attn.sdpa {{.*}} scale 5.000000e-01 : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>)
func.func @empty_attributes(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x3xf32>) -> tensor<5x3xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.5 {} : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x3xf32>) -> tensor<5x3xf32>
  return %o : tensor<5x3xf32>
}
