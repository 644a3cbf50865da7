// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What exporters write between a softmax and the product with the values: zeros for rows that see no key.
// RUN: attn-opt %s --attn-raise-attention --canonicalize --split-input-file | FileCheck %s

// Numbers of 16 bits: scores are f32, a bias is widened, and the guard against
// rows without keys goes.
// CHECK-LABEL: @narrow
// CHECK: %[[S:.*]] = attn.scores %{{.*}} -> tensor<9x9xf32>
// CHECK: %[[B:.*]] = arith.extf %arg3 : tensor<9xf16> to tensor<9xf32>
// CHECK: attn.bias %{{.*}}, %[[B]]
// CHECK-NOT: arith.select
// CHECK: attn.context %{{.*}} : (tensor<9x9xf32>, tensor<9x8xf16>) -> tensor<9x8xf16>
func.func @narrow(%q: tensor<9x16xf16>, %k: tensor<16x9xf16>, %v: tensor<9x8xf16>, %bias: tensor<9xf16>) -> tensor<9x8xf16> {
  %z = arith.constant dense<0.0> : tensor<9x9xf16>
  %s = linalg.matmul ins(%q, %k : tensor<9x16xf16>, tensor<16x9xf16>) outs(%z : tensor<9x9xf16>) -> tensor<9x9xf16>
  %e = tensor.empty() : tensor<9x9xf16>
  %b = linalg.broadcast ins(%bias : tensor<9xf16>) outs(%e : tensor<9x9xf16>) dimensions = [0]
  %biased = arith.addf %s, %b : tensor<9x9xf16>
  %w = linalg.softmax dimension(1) ins(%biased : tensor<9x9xf16>) outs(%e : tensor<9x9xf16>) -> tensor<9x9xf16>
  %nan = arith.cmpf uno, %w, %w : tensor<9x9xf16>
  %safe = arith.select %nan, %z, %w : tensor<9x9xi1>, tensor<9x9xf16>
  %zo = arith.constant dense<0.0> : tensor<9x8xf16>
  %o = linalg.matmul ins(%safe, %v : tensor<9x9xf16>, tensor<9x8xf16>) outs(%zo : tensor<9x8xf16>) -> tensor<9x8xf16>
  return %o : tensor<9x8xf16>
}

// -----

// The same guard where sizes are known at run time: its zeros are a splat.
// CHECK-LABEL: @guarded_by_a_splat
// CHECK: attn.mask %{{.*}} where %arg3
// CHECK-NOT: arith.select
// CHECK: attn.context
func.func @guarded_by_a_splat(%q: tensor<?x16xf32>, %k: tensor<16x?xf32>, %v: tensor<?x8xf32>, %seen: tensor<?x?xi1>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %s = tensor.dim %q, %c0 : tensor<?x16xf32>
  %t = tensor.dim %k, %c1 : tensor<16x?xf32>
  %e = tensor.empty(%s, %t) : tensor<?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %scores = linalg.matmul ins(%q, %k : tensor<?x16xf32>, tensor<16x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  %lows = tensor.splat %low[%s, %t] : tensor<?x?xf32>
  %masked = arith.select %seen, %scores, %lows : tensor<?x?xi1>, tensor<?x?xf32>
  %w = linalg.softmax dimension(1) ins(%masked : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %nan = arith.cmpf uno, %w, %w : tensor<?x?xf32>
  %zeros = tensor.splat %zero[%s, %t] : tensor<?x?xf32>
  %safe = arith.select %nan, %zeros, %w : tensor<?x?xi1>, tensor<?x?xf32>
  %eo = tensor.empty(%s) : tensor<?x8xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x8xf32>) -> tensor<?x8xf32>
  %o = linalg.matmul ins(%safe, %v : tensor<?x?xf32>, tensor<?x8xf32>) outs(%zo : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %o : tensor<?x8xf32>
}

// -----

// Weights are 0 where the mask excludes their scores: it says the same twice,
// here of one column of booleans, once by each of the two values.
// CHECK-LABEL: @zeros_behind
// CHECK: attn.mask %{{.*}} where
// CHECK: %[[W:.*]] = attn.softmax
// CHECK-NOT: arith.select
// CHECK: attn.context %[[W]]
func.func @zeros_behind(%q: tensor<9x16xf32>, %k: tensor<16x9xf32>, %v: tensor<9x8xf32>, %seen: tensor<9xi1>) -> tensor<9x8xf32> {
  %z = arith.constant dense<0.0> : tensor<9x9xf32>
  %low = arith.constant dense<0xFF800000> : tensor<9x9xf32>
  %e = tensor.empty() : tensor<9x9xf32>
  %eb = tensor.empty() : tensor<9x9xi1>
  %s = linalg.matmul ins(%q, %k : tensor<9x16xf32>, tensor<16x9xf32>) outs(%z : tensor<9x9xf32>) -> tensor<9x9xf32>
  %m = linalg.broadcast ins(%seen : tensor<9xi1>) outs(%eb : tensor<9x9xi1>) dimensions = [0]
  %masked = arith.select %m, %s, %low : tensor<9x9xi1>, tensor<9x9xf32>
  %w = linalg.softmax dimension(1) ins(%masked : tensor<9x9xf32>) outs(%e : tensor<9x9xf32>) -> tensor<9x9xf32>
  %again = linalg.broadcast ins(%seen : tensor<9xi1>) outs(%eb : tensor<9x9xi1>) dimensions = [0]
  %zeroed = arith.select %again, %w, %z : tensor<9x9xi1>, tensor<9x9xf32>
  %zo = arith.constant dense<0.0> : tensor<9x8xf32>
  %o = linalg.matmul ins(%zeroed, %v : tensor<9x9xf32>, tensor<9x8xf32>) outs(%zo : tensor<9x8xf32>) -> tensor<9x8xf32>
  return %o : tensor<9x8xf32>
}

// -----

// Values that stand behind a reader of the weights, and do not need them, are
// computed in front of it.
// CHECK-LABEL: @values_later
// CHECK: %[[V:.*]] = math.exp %arg2
// CHECK: %[[W:.*]] = attn.softmax
// CHECK: linalg.reduce ins(%[[W]]
// CHECK: attn.context %[[W]], %[[V]]
func.func @values_later(%q: tensor<9x8xf32>, %k: tensor<8x9xf32>, %x: tensor<9x8xf32>) -> (tensor<9xf32>, tensor<9x8xf32>) {
  %z = arith.constant dense<0.0> : tensor<9x9xf32>
  %e = tensor.empty() : tensor<9x9xf32>
  %s = linalg.matmul ins(%q, %k : tensor<9x8xf32>, tensor<8x9xf32>) outs(%z : tensor<9x9xf32>) -> tensor<9x9xf32>
  %w = linalg.softmax dimension(1) ins(%s : tensor<9x9xf32>) outs(%e : tensor<9x9xf32>) -> tensor<9x9xf32>
  %z1 = arith.constant dense<0.0> : tensor<9xf32>
  %sum = linalg.reduce ins(%w : tensor<9x9xf32>) outs(%z1 : tensor<9xf32>) dimensions = [0]
    (%in: f32, %m: f32) {
      %b = arith.addf %in, %m : f32
      linalg.yield %b : f32
    }
  %v = math.exp %x : tensor<9x8xf32>
  %zo = arith.constant dense<0.0> : tensor<9x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<9x9xf32>, tensor<9x8xf32>) outs(%zo : tensor<9x8xf32>) -> tensor<9x8xf32>
  return %sum, %o : tensor<9xf32>, tensor<9x8xf32>
}
