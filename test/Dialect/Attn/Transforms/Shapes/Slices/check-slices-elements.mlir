// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A place that is an element of a computed tensor is computed by itself:
// @NAME.slices makes no tensor.
// RUN: attn-opt %s --attn-check-slices --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func private @elementwise.slices
// CHECK: %[[A:.*]] = tensor.extract %arg1[%c1]
// CHECK: arith.muli %[[A]], %[[A]] : i32
// CHECK-NOT: tensor<2xi32>
// CHECK-NOT: tensor.extract_slice
// CHECK: return
func.func @elementwise(%x: tensor<?x8xf32>, %at: tensor<2xi32>) -> tensor<3x8xf32> {
  %c1 = arith.constant 1 : index
  %square = arith.muli %at, %at : tensor<2xi32>
  %e = tensor.extract %square[%c1] : tensor<2xi32>
  %i = arith.index_cast %e : i32 to index
  %r = tensor.extract_slice %x[%i, 0] [3, 8] [1, 1] : tensor<?x8xf32> to tensor<3x8xf32>
  return %r : tensor<3x8xf32>
}

// -----

// A sum, through a reshape and a constant.
// CHECK-LABEL: func.func private @sum.slices
// CHECK: %[[SUM:.*]] = scf.for %[[I:.*]] = %c0 to %{{.*}} step %c1 iter_args(%[[ACC:.*]] = %{{.*}}) -> (i32)
// CHECK: %[[E:.*]] = tensor.extract %arg2[%c1, %[[I]]]
// CHECK: arith.addi %[[ACC]], %[[E]]
// CHECK: arith.addi %[[SUM]], %{{.*}} : i32
func.func @sum(%x: tensor<?x8xf32>, %row: tensor<1x8xf32>, %mask: tensor<2x?xi32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0> : tensor<2xi32>
  %more = arith.constant dense<[3, -1]> : tensor<2xi32>
  %n = linalg.reduce { arith.addi } ins(%mask : tensor<2x?xi32>) outs(%zero : tensor<2xi32>) dimensions = [1]
  %m = arith.addi %n, %more : tensor<2xi32>
  %p = tensor.expand_shape %m [[0, 1]] output_shape [1, 2] : tensor<2xi32> into tensor<1x2xi32>
  %e = tensor.extract %p[%c0, %c1] : tensor<1x2xi32>
  %i = arith.index_cast %e : i32 to index
  %r = tensor.insert_slice %row into %x[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

func.func @product(%x: tensor<?x8xf32>, %q: tensor<3x8xf32>, %w: tensor<8x8xf32>) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'attn.project' op computes the place of a slice, which must be known before the call computes; expects an element of an argument}}
  %y = attn.project %q, %w : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %e = tensor.extract %y[%c0, %c0] : tensor<3x8xf32>
  %i = arith.fptosi %e : f32 to i32
  %n = arith.index_cast %i : i32 to index
  %c = tensor.extract_slice %x[%n, 0] [2, 8] [1, 1] : tensor<?x8xf32> to tensor<2x8xf32>
  return %c : tensor<2x8xf32>
}

// -----

// Of places that a body counts the first and the last one are compared, unless
// there is no turn: every second row from the tenth on backwards.
// CHECK-LABEL: func.func private @counted.slices(
// CHECK: %[[N:.*]] = tensor.dim %arg1, %c0
// CHECK: %[[LAST:.*]] = arith.subi %[[N]], %c1
// CHECK: %[[TWICE:.*]] = arith.muli %[[LAST]], %c2
// CHECK: %[[LEAST:.*]] = arith.subi %{{.*}}, %[[TWICE]]
// CHECK: %[[ROWS:.*]] = tensor.dim %arg0, %c0
// CHECK: arith.cmpi sge, %[[LEAST]], %c0
// CHECK: arith.cmpi sgt, %[[ROWS]], %c9
// CHECK: arith.cmpi eq, %[[N]], %c0
func.func @counted(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c2 = arith.constant 2 : index
  %c9 = arith.constant 9 : index
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : tensor<?xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %twice = arith.muli %i, %c2 : index
    %at = arith.subi %c9, %twice : index
    %v = tensor.extract %x[%at] : tensor<?xf32>
    %r = arith.addf %v, %o : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  return %z : tensor<?xf32>
}
