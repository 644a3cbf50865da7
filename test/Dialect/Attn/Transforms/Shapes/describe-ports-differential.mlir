// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The second query and key have the sizes of the first, and lambda one element per head unless it has one.
// RUN: attn-opt %s --attn-describe-ports | FileCheck %s

// CHECK-LABEL: func.func @fused
// CHECK-SAME: #attn.port<"arg0", input [arg00, 8, arg02, 4]
// CHECK-SAME: #attn.port<"arg1", input [arg00, 2, arg12, 4]
// CHECK-SAME: #attn.port<"arg2", input [arg00, 8, arg02, 4]
// CHECK-SAME: #attn.port<"arg3", input [arg00, 2, arg12, 4]
// CHECK-SAME: #attn.port<"arg4", input
// CHECK-SAME: #attn.port<"arg5", input [8] : tensor<?xf32>>
func.func @fused(%q1: tensor<?x8x?x4xf32>, %k1: tensor<?x2x?x4xf32>, %q2: tensor<?x8x?x4xf32>, %k2: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x4xf32>, %l: tensor<?xf32>) -> tensor<?x8x?x4xf32> {
  %o = attn.sdpa %q1, %k1, %v minus %q2, %k2 by %l : tensor<?xf32> scale 0.5 : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// CHECK-LABEL: func.func @steps
// CHECK-SAME: #attn.port<"arg0", input [arg00, arg01, arg02, arg03]
// CHECK-SAME: #attn.port<"arg1", input [arg00, arg01, arg02, arg03]
// CHECK-SAME: #attn.port<"arg2", input [arg01]
// CHECK-SAME: #attn.port<"arg3", input [1]
func.func @steps(%a: tensor<?x?x?x?xf32>, %b: tensor<?x?x?x?xf32>, %l: tensor<?xf32>, %m: tensor<1xf32>) -> tensor<?x?x?x?xf32> {
  %w = attn.subtract_weights %a, %b by %l : tensor<?x?x?x?xf32>, tensor<?xf32>
  %x = attn.subtract_weights %w, %b by %m : tensor<?x?x?x?xf32>, tensor<1xf32>
  return %x : tensor<?x?x?x?xf32>
}

// A slice has the sizes that it asks other tensors for: those of the arguments that it and the other slices were cut from.
// CHECK-LABEL: func.func @slices
// CHECK-SAME: #attn.port<"arg0", input [arg00, 4, arg02, 8]
// CHECK-SAME: #attn.port<"arg1", input [arg02]
// CHECK-SAME: #attn.port<"out0", output [arg00, 2, arg02, 8]
// CHECK-SAME: #attn.port<"out1", output [arg02, 8]
func.func @slices(%x: tensor<?x4x?x8xf32>, %y: tensor<?xf32>) -> (tensor<?x2x?x8xf32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %b = tensor.dim %x, %c0 : tensor<?x4x?x8xf32>
  %n = tensor.dim %x, %c2 : tensor<?x4x?x8xf32>
  %m = tensor.dim %y, %c0 : tensor<?xf32>
  %even = tensor.extract_slice %x[0, 0, 0, 0] [%b, 2, %n, 8] [1, 2, 1, 1] : tensor<?x4x?x8xf32> to tensor<?x2x?x8xf32>
  %one = tensor.extract_slice %x[0, 1, 0, 0] [1, 1, %m, 8] [1, 1, 1, 1] : tensor<?x4x?x8xf32> to tensor<?x8xf32>
  %both = attn.scale %even by 1.0 : tensor<?x2x?x8xf32>
  %row = tensor.extract_slice %even[0, 0, 0, 0] [1, 1, %n, 8] [1, 1, 1, 1] : tensor<?x2x?x8xf32> to tensor<?x8xf32>
  %sum = arith.addf %one, %row : tensor<?x8xf32>
  return %both, %sum : tensor<?x2x?x8xf32>, tensor<?x8xf32>
}
