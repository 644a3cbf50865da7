// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-insert-concats --canonicalize | FileCheck %s
// RUN: attn-opt %s --compile-to=buffers | FileCheck %s --check-prefix=MEMORY

// What is returned is written once, and read where it was written.
// CHECK-LABEL: @cache
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<4x9x8xf32>
// CHECK: %[[PAST:.*]] = tensor.insert_slice %arg0 into %[[EMPTY]][0, 0, 0] [4, 8, 8] [1, 1, 1]
// CHECK: %[[KEYS:.*]] = tensor.insert_slice %arg1 into %[[PAST]][0, 8, 0] [4, 1, 8] [1, 1, 1]
// CHECK: tensor.extract_slice %[[KEYS]]
// CHECK: return {{.*}}, %[[KEYS]]
// MEMORY-LABEL: @cache.kernel
// MEMORY-NOT: memref.alloc
// MEMORY: %[[FIRST:.*]] = memref.subview %arg3[0, 0, 0] [4, 8, 8]
// MEMORY: memref.copy %arg0, %[[FIRST]]
// MEMORY: %[[SECOND:.*]] = memref.subview %arg3[0, 8, 0] [4, 1, 8]
// MEMORY: memref.copy %arg1, %[[SECOND]]
func.func @cache(%past: tensor<4x8x8xf32>, %new: tensor<4x1x8xf32>) -> (tensor<4x2x8xf32>, tensor<4x9x8xf32>) {
  %keys = tensor.concat dim(1) %past, %new : (tensor<4x8x8xf32>, tensor<4x1x8xf32>) -> tensor<4x9x8xf32>
  %last = tensor.extract_slice %keys[0, 7, 0] [4, 2, 8] [1, 1, 1] : tensor<4x9x8xf32> to tensor<4x2x8xf32>
  %negated = arith.negf %last : tensor<4x2x8xf32>
  return %negated, %keys : tensor<4x2x8xf32>, tensor<4x9x8xf32>
}

// Sizes of run time, and a part that is another concat.
// CHECK-LABEL: @unknown
// CHECK-NOT: tensor.concat
// CHECK-COUNT-4: tensor.insert_slice
// CHECK-NOT: tensor.concat
func.func @unknown(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %wide = tensor.concat dim(1) %a, %b : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  %both = tensor.concat dim(0) %wide, %c : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %both : tensor<?x8xf32>
}
