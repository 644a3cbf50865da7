// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A size of a computed tensor is that of an argument, if the ops between them say
// so: elementwise ops, products, slices, reshapes, loops.
// RUN: attn-opt %s --attn-resolve-sizes --canonicalize | FileCheck %s

// CHECK-LABEL: @elementwise
// CHECK: tensor.dim %arg0, %c0
// CHECK-NOT: math.tanh
func.func @elementwise(%x: tensor<?x4xf32>) -> index {
  %c0 = arith.constant 0 : index
  %y = math.tanh %x : tensor<?x4xf32>
  %z = arith.addf %y, %x : tensor<?x4xf32>
  %n = tensor.dim %z, %c0 : tensor<?x4xf32>
  return %n : index
}

// CHECK-LABEL: @product
// CHECK-DAG: tensor.dim %arg0, %c0
// CHECK-DAG: tensor.dim %arg1, %c1
func.func @product(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %w, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %z = arith.negf %y : tensor<?x?xf32>
  %a = tensor.dim %z, %c0 : tensor<?x?xf32>
  %b = tensor.dim %z, %c1 : tensor<?x?xf32>
  return %a, %b : index, index
}

// CHECK-LABEL: @reshape
// CHECK: tensor.dim %arg0, %c0
func.func @reshape(%x: tensor<?x32xf32>) -> index {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x32xf32>
  %s = tensor.expand_shape %x [[0], [1, 2]] output_shape [%n, 4, 8] : tensor<?x32xf32> into tensor<?x4x8xf32>
  %y = math.absf %s : tensor<?x4x8xf32>
  %z = tensor.collapse_shape %y [[0], [1, 2]] : tensor<?x4x8xf32> into tensor<?x32xf32>
  %r = tensor.dim %z, %c0 : tensor<?x32xf32>
  return %r : index
}

// CHECK-LABEL: @loop
// CHECK: %[[N:.*]] = tensor.dim %arg0, %c0
// CHECK: return %[[N]]
func.func @loop(%x: tensor<?xf32>, %k: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %k step %c1 iter_args(%a = %x) -> tensor<?xf32> {
    %b = arith.addf %a, %a : tensor<?xf32>
    scf.yield %b : tensor<?xf32>
  }
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  return %n : index
}

// A loop whose tensor grows says nothing of what comes out.
// CHECK-LABEL: @growing
// CHECK: %[[Y:.*]] = scf.for
// CHECK: tensor.dim %[[Y]]
func.func @growing(%x: tensor<?xf32>, %one: tensor<1xf32>, %k: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %k step %c1 iter_args(%a = %x) -> tensor<?xf32> {
    %b = tensor.concat dim(0) %a, %one : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
    scf.yield %b : tensor<?xf32>
  }
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  return %n : index
}

// Nor does a choice between two sizes.
// CHECK-LABEL: @choice
// CHECK: %[[Y:.*]] = scf.if
// CHECK: tensor.dim %[[Y]]
func.func @choice(%x: tensor<?xf32>, %z: tensor<?xf32>, %some: i1) -> index {
  %c0 = arith.constant 0 : index
  %y = scf.if %some -> tensor<?xf32> {
    %a = arith.negf %x : tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  } else {
    scf.yield %z : tensor<?xf32>
  }
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  return %n : index
}
