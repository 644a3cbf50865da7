// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes that ops around the attention require: destinations of linalg ops and of parallel loops, the loops of a linalg op, and
// sizes that were asked of a tensor. Tables of no columns are never read.
// RUN: attn-opt %s --attn-describe-ports --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func.func @product
// CHECK: #attn.port<"a", input [a0, a1]
// CHECK-SAME: #attn.port<"b", input [a1, b1]
// CHECK-SAME: #attn.port<"out", output [a0, b1]
func.func @product(%a: tensor<?x?xf32> {attn.name = "a"}, %b: tensor<?x?xf32> {attn.name = "b"}) -> (tensor<?x?xf32> {attn.name = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @loop
// CHECK: #attn.port<"x", input [x0]
// CHECK-SAME: #attn.port<"out", output [x0]
func.func @loop(%x: tensor<?xf32> {attn.name = "x"}) -> (tensor<?xf32> {attn.name = "out"}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = scf.forall (%i) in (%n) shared_outs(%o = %e) -> tensor<?xf32> {
    %s = tensor.extract_slice %x[%i] [1] [1] : tensor<?xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
    }
  }
  return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @no_pairs
// CHECK-NOT: not_empty
// CHECK: {
func.func @no_pairs(%x: tensor<?x8xf32> {attn.name = "x"}, %cos: tensor<?x0xf32> {attn.name = "cos"}, %sin: tensor<?x0xf32> {attn.name = "sin"}) -> (tensor<?x8xf32> {attn.name = "out"}) {
  %r = attn.rope %x, %cos, %sin : tensor<?x8xf32>, tensor<?x0xf32>
  return %r : tensor<?x8xf32>
}
