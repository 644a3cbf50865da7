// RUN: attn-opt %s --attn-fuse | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dropout in front of the context becomes a clause.

// CHECK-LABEL: func @one
// CHECK-NEXT: %[[O:.*]], %[[W:.*]] = attn.sdpa %arg0, %arg1, %arg2 scale 1.000000e+00 dropout 1.000000e-01 seed %arg3 : tensor<i64> returning(out, weights)
// CHECK-NEXT: return %[[O]], %[[W]]
func.func @one(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x8xf32>, %x: tensor<i64>) -> (tensor<5x8xf32>, tensor<5x6xf32>) {
  %s = attn.scores %q, %k : (tensor<5x8xf32>, tensor<6x8xf32>) -> tensor<5x6xf32>
  %w = attn.softmax %s : tensor<5x6xf32>
  %d = attn.dropout %w by 0.1 seed %x : tensor<5x6xf32>, tensor<i64>
  %o = attn.context %d, %v : (tensor<5x6xf32>, tensor<6x8xf32>) -> tensor<5x8xf32>
  return %o, %w : tensor<5x8xf32>, tensor<5x6xf32>
}

// CHECK-LABEL: func @two_maps
// CHECK-NEXT: attn.sdpa %arg0, %arg1, %arg2 minus %arg1, %arg0 by %arg4 : tensor<1xf32> scale 1.000000e+00 dropout 1.000000e-01 seed %arg3 : tensor<i64> :
// CHECK-NEXT: return
func.func @two_maps(%q: tensor<6x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x8xf32>, %x: tensor<i64>, %l: tensor<1xf32>) -> tensor<6x8xf32> {
  %s = attn.scores %q, %k : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x6xf32>
  %w = attn.softmax %s : tensor<6x6xf32>
  %t = attn.scores %k, %q : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x6xf32>
  %y = attn.softmax %t : tensor<6x6xf32>
  %z = attn.subtract_weights %w, %y by %l : tensor<6x6xf32>, tensor<1xf32>
  %d = attn.dropout %z by 0.1 seed %x : tensor<6x6xf32>, tensor<i64>
  %o = attn.context %d, %v : (tensor<6x6xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  return %o : tensor<6x8xf32>
}

// Two contexts may read one dropout; the dropped weights themselves are no
// result.
// CHECK-LABEL: func @shared
// CHECK-COUNT-2: attn.sdpa
// CHECK-NOT: attn.dropout
// CHECK-LABEL: func @returned
// CHECK: attn.dropout
// CHECK: attn.context {{.*}}attn.not_fused = "the result of attn.dropout has other uses, but attn.sdpa returns the weights in front of it"
func.func @shared(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x8xf32>, %x: tensor<i64>) -> (tensor<5x8xf32>, tensor<5x8xf32>) {
  %s = attn.scores %q, %k : (tensor<5x8xf32>, tensor<6x8xf32>) -> tensor<5x6xf32>
  %w = attn.softmax %s : tensor<5x6xf32>
  %d = attn.dropout %w by 0.1 seed %x : tensor<5x6xf32>, tensor<i64>
  %o = attn.context %d, %v : (tensor<5x6xf32>, tensor<6x8xf32>) -> tensor<5x8xf32>
  %p = attn.context %d, %k : (tensor<5x6xf32>, tensor<6x8xf32>) -> tensor<5x8xf32>
  return %o, %p : tensor<5x8xf32>, tensor<5x8xf32>
}
func.func @returned(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x8xf32>, %x: tensor<i64>) -> (tensor<5x8xf32>, tensor<5x6xf32>) {
  %s = attn.scores %q, %k : (tensor<5x8xf32>, tensor<6x8xf32>) -> tensor<5x6xf32>
  %w = attn.softmax %s : tensor<5x6xf32>
  %d = attn.dropout %w by 0.1 seed %x : tensor<5x6xf32>, tensor<i64>
  %o = attn.context %d, %v : (tensor<5x6xf32>, tensor<6x8xf32>) -> tensor<5x8xf32>
  return %o, %d : tensor<5x8xf32>, tensor<5x6xf32>
}
