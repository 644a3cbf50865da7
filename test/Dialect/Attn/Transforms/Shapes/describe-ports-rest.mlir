// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An unknown size that known ones leave no choice is known to the caller.
// RUN: attn-opt %s --attn-describe-ports | FileCheck %s

// CHECK-LABEL: func.func @concat
// CHECK-SAME: #attn.port<"b", input [9, 16]
func.func @concat(%a: tensor<1x16xf32> {attn.name = "a"}, %b: tensor<?x16xf32> {attn.name = "b"}) -> tensor<10x16xf32> {
  %r = tensor.concat dim(0) %a, %b : (tensor<1x16xf32>, tensor<?x16xf32>) -> tensor<10x16xf32>
  return %r : tensor<10x16xf32>
}

// Two that share ten rows: a call tells.
// CHECK-LABEL: func.func @two
// CHECK-SAME: #attn.port<"a", input [a0, 16]{{.*}}#attn.port<"b", input [b0, 16]
func.func @two(%a: tensor<?x16xf32> {attn.name = "a"}, %b: tensor<?x16xf32> {attn.name = "b"}) -> tensor<10x16xf32> {
  %r = tensor.concat dim(0) %a, %b : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<10x16xf32>
  return %r : tensor<10x16xf32>
}

// A width that is no constant; a dimension that stays.
// CHECK-LABEL: func.func @pad
// CHECK-SAME: #attn.port<"x", input [7, x1, x2]{{.*}}#attn.port<"r", output [10, 12, x2]
func.func @pad(%x: tensor<?x?x?xf32> {attn.name = "x"}, %n: tensor<i64> {attn.name = "n"}) -> (tensor<10x12x?xf32> {attn.name = "r"}) {
  %z = arith.constant 0.0 : f32
  %number = tensor.extract %n[] : tensor<i64>
  %w = arith.index_cast %number : i64 to index
  %r = tensor.pad %x low[1, 0, 0] high[2, %w, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %z : f32
  } : tensor<?x?x?xf32> to tensor<10x12x?xf32>
  return %r : tensor<10x12x?xf32>
}

// CHECK-LABEL: func.func @reshape
// CHECK-SAME: #attn.port<"x", input [10, 4]
func.func @reshape(%x: tensor<?x4xf32> {attn.name = "x"}) -> tensor<5x8xf32> {
  %s = arith.constant dense<[5, 8]> : tensor<2xindex>
  %y = tensor.reshape %x(%s) : (tensor<?x4xf32>, tensor<2xindex>) -> tensor<5x8xf32>
  return %y : tensor<5x8xf32>
}

// CHECK-LABEL: func.func @split
// CHECK-SAME: #attn.port<"x", input [x0, 64]
func.func @split(%x: tensor<?x?xf32> {attn.name = "x"}) -> tensor<4x?x16xf32> {
  %h = attn.split_heads %x into 4 : tensor<?x?xf32> -> tensor<4x?x16xf32>
  return %h : tensor<4x?x16xf32>
}

// CHECK-LABEL: func.func @merge
// CHECK-SAME: #attn.port<"h", output [x1, 64]
func.func @merge(%x: tensor<4x?x16xf32> {attn.name = "x"}) -> (tensor<?x?xf32> {attn.name = "h"}) {
  %h = attn.merge_heads %x : tensor<4x?x16xf32> -> tensor<?x?xf32>
  return %h : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @rope
// CHECK-SAME: #attn.port<"x", input [x0, 4]{{.*}}#attn.port<"c", input [x0, 2]{{.*}}#attn.port<"s", input [x0, 2]
func.func @rope(%x: tensor<?x4xf32> {attn.name = "x"}, %c: tensor<?x2xf32> {attn.name = "c"}, %s: tensor<?x2xf32> {attn.name = "s"}) -> tensor<?x4xf32> {
  %y = attn.rope %x, %c, %s {attn.row_for_row} : tensor<?x4xf32>, tensor<?x2xf32>
  return %y : tensor<?x4xf32>
}
