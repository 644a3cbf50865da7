// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A result in the place of an argument stands for it where it is the argument
// with other elements here and there; else it is copied there at the end.
// RUN: attn-opt %s --attn-lower-signature | FileCheck %s

// CHECK-LABEL: func.func private @insert.kernel(%arg0: memref<?x4xf32, {{.*}}>, %arg1: {{.*}}>, %arg2: memref<?x4xf32,
// CHECK: %[[DIFFERS:.*]] = arith.cmpi ne
// CHECK: scf.if %[[DIFFERS]] {
// CHECK-NEXT: memref.copy %arg0, %arg2
// CHECK: %[[IN:.*]] = bufferization.to_tensor %arg2 restrict writable
// CHECK: %[[OUT:.*]] = tensor.insert_slice %{{.*}} into %[[IN]]
// CHECK: bufferization.materialize_in_destination %[[OUT]] in restrict writable %arg2
func.func @insert(%x: tensor<?x4xf32> {attn.name = "x"}, %y: tensor<1x4xf32> {attn.name = "y"}) -> (tensor<?x4xf32> {attn.in_place = "x"}) {
  %r = tensor.insert_slice %y into %x[0, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// Through loops, branches, other shapes and ops that write to it.
// CHECK-LABEL: func.func private @chain.kernel
// CHECK: bufferization.to_tensor %arg2 restrict writable
// CHECK-NOT: memref.copy
// CHECK: bufferization.materialize_in_destination
// CHECK-NOT: memref.copy
// CHECK: return
func.func @chain(%x: tensor<8x4xf32> {attn.name = "x"}, %some: tensor<i1> {attn.name = "some"}) -> (tensor<8x4xf32> {attn.in_place = "x"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %f = arith.constant 1.0 : f32
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<8x4xf32> into tensor<32xf32>
  %loop = scf.for %i = %c0 to %c8 step %c1 iter_args(%t = %flat) -> tensor<32xf32> {
    %n = tensor.insert %f into %t[%i] : tensor<32xf32>
    scf.yield %n : tensor<32xf32>
  }
  %whole = tensor.expand_shape %loop [[0, 1]] output_shape [8, 4] : tensor<32xf32> into tensor<8x4xf32>
  %c = tensor.extract %some[] : tensor<i1>
  %branch = scf.if %c -> tensor<8x4xf32> {
    scf.yield %whole : tensor<8x4xf32>
  } else {
    %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%whole : tensor<8x4xf32>) {
    ^bb0(%o: f32):
      %z = arith.addf %o, %o : f32
      linalg.yield %z : f32
    } -> tensor<8x4xf32>
    scf.yield %sum : tensor<8x4xf32>
  }
  %all = scf.forall (%i) in (8) shared_outs(%o = %branch) -> tensor<8x4xf32> {
    %row = tensor.extract_slice %o[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<1x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %o[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
    }
  }
  return %all : tensor<8x4xf32>
}

// Its argument is read until the end.
// CHECK-LABEL: func.func private @other.kernel
// CHECK: %[[X:.*]] = bufferization.to_tensor %arg0 restrict
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[X]]
// CHECK: %[[S:.*]] = linalg.add
// CHECK: %[[B:.*]] = bufferization.to_buffer %[[T]] read_only
// CHECK: bufferization.materialize_in_destination %[[S]] in restrict writable %arg2
// CHECK: memref.copy %[[B]], %arg1
func.func @other(%x: tensor<4x4xf32> {attn.name = "x"}) -> (tensor<4x4xf32> {attn.in_place = "x"}, tensor<4x4xf32>) {
  %e = tensor.empty() : tensor<4x4xf32>
  %t = linalg.transpose ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  %s = linalg.add ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %t, %s : tensor<4x4xf32>, tensor<4x4xf32>
}

// A loop that turns over which of two is which; arguments for each other.
// CHECK-LABEL: func.func private @swapped.kernel
// CHECK-DAG: %[[X:.*]] = bufferization.to_tensor %arg0 restrict
// CHECK-DAG: %[[Y:.*]] = bufferization.to_tensor %arg1 restrict
// CHECK: %[[CY:.*]] = bufferization.alloc_tensor() copy(%[[Y]])
// CHECK: %[[BY:.*]] = bufferization.to_buffer %[[CY]] read_only
// CHECK: %[[CX:.*]] = bufferization.alloc_tensor() copy(%[[X]])
// CHECK: %[[BX:.*]] = bufferization.to_buffer %[[CX]] read_only
// CHECK: memref.copy %[[BY]], %arg2
// CHECK: memref.copy %[[BX]], %arg3
func.func @swapped(%x: tensor<4xf32> {attn.name = "x"}, %y: tensor<4xf32> {attn.name = "y"}) -> (tensor<4xf32> {attn.in_place = "x"}, tensor<4xf32> {attn.in_place = "y"}) {
  return %y, %x : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func private @turned.kernel
// CHECK-NOT: writable
// CHECK: memref.copy
// CHECK: memref.copy
func.func @turned(%x: tensor<4xf32> {attn.name = "x"}, %y: tensor<4xf32> {attn.name = "y"}) -> (tensor<4xf32> {attn.in_place = "x"}, tensor<4xf32> {attn.in_place = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %y) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.yield %b, %a : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}
