// RUN: attn-opt %s --attn-normalize | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A predicate becomes a term; what it captures and does not read is gone.
// CHECK-LABEL: @linear(
// CHECK-SAME: %[[S:.*]]: tensor<5x6xf32>, %{{.*}}: tensor<4xi32>)
// CHECK: attn.mask %[[S]] where predicate(#attn.program<<"arith.cmpi", [3, 2], {predicate = 3 : i64}, i1>>) : tensor<5x6xf32>
func.func @linear(%s: tensor<5x6xf32>, %t: tensor<4xi32>) -> tensor<5x6xf32> {
  %r = attn.mask_fn %s (%b, %h, %q, %k) with (%unread = %t : tensor<4xi32>) {
    %dead = arith.addi %q, %k : index
    %past = arith.cmpi ule, %k, %q : index
    %same = arith.cmpi sle, %k, %q : index
    attn.yield %same : i1
  } : tensor<5x6xf32>
  return %r : tensor<5x6xf32>
}

// CHECK-LABEL: @table(
// CHECK-SAME: %[[S:.*]]: tensor<5x6xf32>, %[[T:.*]]: tensor<?xi32>)
// CHECK: attn.mask %[[S]] where predicate(#attn.program<inputs = [tensor<?xi32>],{{.*}}>, %[[T]] : tensor<?xi32>) : tensor<5x6xf32>
func.func @table(%s: tensor<5x6xf32>, %t: tensor<?xi32>) -> tensor<5x6xf32> {
  %r = attn.mask_fn %s (%b, %h, %q, %k) with (%x = %t : tensor<?xi32>) {
    %i = tensor.extract %x[%q] : tensor<?xi32>
    %j = tensor.extract %x[%k] : tensor<?xi32>
    %same = arith.cmpi eq, %i, %j : i32
    attn.yield %same : i1
  } : tensor<5x6xf32>
  return %r : tensor<5x6xf32>
}
