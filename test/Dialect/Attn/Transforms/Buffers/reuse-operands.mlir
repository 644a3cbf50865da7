// RUN: attn-opt %s --attn-reuse-operands | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A product of two projections lies where the first one lay; the exponential behind it, which the caller gets, does not.

#id = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func @chain
// CHECK:      %[[GATE:.*]] = linalg.matmul
// CHECK:      %[[UP:.*]] = linalg.matmul
// CHECK:      %[[PRODUCT:.*]] = linalg.mul ins(%[[GATE]], %[[UP]] : {{.*}}) outs(%[[GATE]] :
// CHECK:      %[[EMPTY:.*]] = tensor.empty
// CHECK:      linalg.exp ins(%[[PRODUCT]] : {{.*}}) outs(%[[EMPTY]] :
func.func @chain(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %v: tensor<8x16xf32>) -> tensor<4x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x16xf32>
  %gate = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x16xf32>) outs(%zero : tensor<4x16xf32>) -> tensor<4x16xf32>
  %up = linalg.matmul ins(%x, %v : tensor<4x8xf32>, tensor<8x16xf32>) outs(%zero : tensor<4x16xf32>) -> tensor<4x16xf32>
  %e0 = tensor.empty() : tensor<4x16xf32>
  %product = linalg.mul ins(%gate, %up : tensor<4x16xf32>, tensor<4x16xf32>) outs(%e0 : tensor<4x16xf32>) -> tensor<4x16xf32>
  %e1 = tensor.empty() : tensor<4x16xf32>
  %r = linalg.exp ins(%product : tensor<4x16xf32>) outs(%e1 : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}

// What has a second user, another type, or is transposed stays, and so do arguments.
// CHECK-LABEL: func @others
// CHECK-COUNT-4: outs(%{{[0-9]+}} : tensor<8x8x
// CHECK: return
func.func @others(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf16>, tensor<8x8xf32>) {
  %e0 = tensor.empty() : tensor<8x8xf32>
  %a = linalg.exp ins(%x : tensor<8x8xf32>) outs(%e0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %e1 = tensor.empty() : tensor<8x8xf32>
  %b = linalg.abs ins(%a : tensor<8x8xf32>) outs(%e1 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %e2 = tensor.empty() : tensor<8x8xf32>
  %t = linalg.transpose ins(%b : tensor<8x8xf32>) outs(%e2 : tensor<8x8xf32>) permutation = [1, 0]
  %s = arith.addf %t, %a : tensor<8x8xf32>
  %e3 = tensor.empty() : tensor<8x8xf16>
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<8x8xf32>) outs(%e3 : tensor<8x8xf16>) {
  ^bb0(%in: f32, %o: f16):
    %n = arith.truncf %in : f32 to f16
    linalg.yield %n : f16
  } -> tensor<8x8xf16>
  return %a, %h, %t : tensor<8x8xf32>, tensor<8x8xf16>, tensor<8x8xf32>
}

// A result that is read behind the op, here by the caller, keeps its memory to itself; one that is read in front of it does not.
// CHECK-LABEL: func @read_behind
// CHECK:      %[[A:.*]] = linalg.exp
// CHECK:      %[[EMPTY:.*]] = tensor.empty
// CHECK:      linalg.add ins(%[[A]], %arg0 : {{.*}}) outs(%[[EMPTY]] :
// CHECK-LABEL: func @read_before
// CHECK:      %[[A:.*]] = linalg.exp
// CHECK:      linalg.abs ins(%[[A]] :
// CHECK:      linalg.add ins(%[[A]], %arg0 : {{.*}}) outs(%[[A]] :
func.func @read_behind(%x: tensor<?x8xf32>, %e: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %a = linalg.exp ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %r = linalg.add ins(%a, %x : tensor<?x8xf32>, tensor<?x8xf32>) outs(%a : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r, %a : tensor<?x8xf32>, tensor<?x8xf32>
}

func.func @read_before(%x: tensor<?x8xf32>, %e: tensor<?x8xf32>, %f: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %a = linalg.exp ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %b = linalg.abs ins(%a : tensor<?x8xf32>) outs(%f : tensor<?x8xf32>) -> tensor<?x8xf32>
  %r = linalg.add ins(%a, %x : tensor<?x8xf32>, tensor<?x8xf32>) outs(%a : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r, %b : tensor<?x8xf32>, tensor<?x8xf32>
}
