// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic behind a reshape of a product moves in front of it.
// RUN: attn-opt %s --attn-sink-reshapes --split-input-file | FileCheck %s

// A chain with a second reader inside, constants, rows that are repeated, a tensor of our own and one that is reshaped alike.
// CHECK-LABEL: func.func @expand
// CHECK:      %[[P:.*]] = attn.project
// CHECK:      %[[ROWS:.*]] = linalg.broadcast ins(%arg2 : tensor<64xf32>) outs(%{{.*}} : tensor<28x64xf32>) dimensions = [0]
// CHECK:      %[[SUM:.*]] = arith.addf %[[P]], %[[ROWS]] : tensor<28x64xf32>
// CHECK:      %[[TANH:.*]] = math.tanh %[[SUM]] : tensor<28x64xf32>
// CHECK:      %[[PRODUCT:.*]] = arith.mulf %[[SUM]], %[[TANH]] : tensor<28x64xf32>
// CHECK:      %[[HALF:.*]] = arith.constant dense<5.000000e-01> : tensor<28x64xf32>
// CHECK:      arith.mulf %[[PRODUCT]], %[[HALF]] : tensor<28x64xf32>
// CHECK:      %[[OURS:.*]] = tensor.collapse_shape %{{.*}} {{\[}}[0, 1], [2]] : tensor<4x7x64xf32> into tensor<28x64xf32>
// CHECK:      %[[MORE:.*]] = arith.addf %{{.*}}, %[[OURS]] : tensor<28x64xf32>
// CHECK:      %[[LAST:.*]] = arith.addf %[[MORE]], %arg3 : tensor<28x64xf32>
// CHECK:      %[[RESULT:.*]] = tensor.expand_shape %[[LAST]] {{\[}}[0, 1], [2]] output_shape [4, 7, 64]
// CHECK-NEXT: return %[[RESULT]]
func.func @expand(%x: tensor<28x32xf32>, %w: tensor<32x64xf32>, %b: tensor<64xf32>, %flat: tensor<28x64xf32>, %y: tensor<4x7x64xf32>) -> tensor<4x7x64xf32> {
  %ours = math.exp %y : tensor<4x7x64xf32>
  %p = attn.project %x, %w : (tensor<28x32xf32>, tensor<32x64xf32>) -> tensor<28x64xf32>
  %e = tensor.expand_shape %p [[0, 1], [2]] output_shape [4, 7, 64] : tensor<28x64xf32> into tensor<4x7x64xf32>
  %empty = tensor.empty() : tensor<4x7x64xf32>
  %rows = linalg.broadcast ins(%b : tensor<64xf32>) outs(%empty : tensor<4x7x64xf32>) dimensions = [0, 1]
  %sum = arith.addf %e, %rows : tensor<4x7x64xf32>
  %tanh = math.tanh %sum : tensor<4x7x64xf32>
  %product = arith.mulf %sum, %tanh : tensor<4x7x64xf32>
  %half = arith.constant dense<0.5> : tensor<4x7x64xf32>
  %scaled = arith.mulf %product, %half : tensor<4x7x64xf32>
  %more = arith.addf %scaled, %ours : tensor<4x7x64xf32>
  %alike = tensor.expand_shape %flat [[0, 1], [2]] output_shape [4, 7, 64] : tensor<28x64xf32> into tensor<4x7x64xf32>
  %last = arith.addf %more, %alike : tensor<4x7x64xf32>
  return %last : tensor<4x7x64xf32>
}

// -----
// Joined dimensions: any tensor can be cut as it lies. Sizes are those of the product; types may change.
// CHECK-LABEL: func.func @collapse
// CHECK:      %[[P:.*]] = attn.project
// CHECK-DAG:  tensor.dim %[[P]]
// CHECK:      %[[OTHER:.*]] = tensor.expand_shape %arg2 {{\[}}[0, 1], [2]] output_shape [%{{.*}}, %{{.*}}, 64]
// CHECK:      %[[SUM:.*]] = arith.addf %[[P]], %[[OTHER]] : tensor<?x?x64xf32>
// CHECK:      %[[SPLAT:.*]] = tensor.splat %{{.*}}[%{{.*}}, %{{.*}}] : tensor<?x?x64xf32>
// CHECK:      %[[LESS:.*]] = arith.cmpf olt, %[[SUM]], %[[SPLAT]] : tensor<?x?x64xf32>
// CHECK:      %[[CHOICE:.*]] = arith.select %[[LESS]], %[[SUM]], %[[SPLAT_2:.*]] : tensor<?x?x64xi1>, tensor<?x?x64xf32>
// CHECK:      %[[NARROW:.*]] = arith.truncf %[[CHOICE]] : tensor<?x?x64xf32> to tensor<?x?x64xf16>
// CHECK:      %[[RESULT:.*]] = tensor.collapse_shape %[[NARROW]] {{\[}}[0, 1], [2]] : tensor<?x?x64xf16> into tensor<?x64xf16>
// CHECK-NEXT: return %[[RESULT]]
func.func @collapse(%x: tensor<?x?x32xf32>, %w: tensor<32x64xf32>, %y: tensor<?x64xf32>, %n: index) -> tensor<?x64xf16> {
  %one = arith.constant 1.0 : f32
  %p = attn.project %x, %w : (tensor<?x?x32xf32>, tensor<32x64xf32>) -> tensor<?x?x64xf32>
  %c = tensor.collapse_shape %p [[0, 1], [2]] : tensor<?x?x64xf32> into tensor<?x64xf32>
  %sum = arith.addf %c, %y : tensor<?x64xf32>
  %splat = tensor.splat %one[%n] : tensor<?x64xf32>
  %less = arith.cmpf olt, %sum, %splat : tensor<?x64xf32>
  %choice = arith.select %less, %sum, %splat : tensor<?x64xi1>, tensor<?x64xf32>
  %narrow = arith.truncf %choice : tensor<?x64xf32> to tensor<?x64xf16>
  return %narrow : tensor<?x64xf16>
}

// -----
// Columns that become heads: rows of heads are rows of columns.
// CHECK-LABEL: func.func @columns
// CHECK:      %[[FLAT:.*]] = tensor.collapse_shape %arg2 {{\[}}[0, 1]] : tensor<4x16xf32> into tensor<64xf32>
// CHECK:      %[[ROWS:.*]] = linalg.broadcast ins(%[[FLAT]] : tensor<64xf32>) outs(%{{.*}} : tensor<?x64xf32>) dimensions = [0]
// CHECK:      arith.addf %{{.*}}, %[[ROWS]] : tensor<?x64xf32>
func.func @columns(%x: tensor<?x32xf32>, %w: tensor<32x64xf32>, %b: tensor<4x16xf32>, %n: index) -> tensor<?x4x16xf32> {
  %p = attn.project %x, %w : (tensor<?x32xf32>, tensor<32x64xf32>) -> tensor<?x64xf32>
  %e = tensor.expand_shape %p [[0], [1, 2]] output_shape [%n, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
  %empty = tensor.empty(%n) : tensor<?x4x16xf32>
  %rows = linalg.broadcast ins(%b : tensor<4x16xf32>) outs(%empty : tensor<?x4x16xf32>) dimensions = [0]
  %sum = arith.addf %e, %rows : tensor<?x4x16xf32>
  return %sum : tensor<?x4x16xf32>
}

// -----
// The reshape has a second reader: it stays for that one.
// CHECK-LABEL: func.func @second
// CHECK: %[[E:.*]] = tensor.expand_shape
// CHECK: math.tanh %{{.*}} : tensor<28x64xf32>
// CHECK: %[[T:.*]] = tensor.expand_shape
// CHECK: return %[[E]], %[[T]]
func.func @second(%x: tensor<28x32xf32>, %w: tensor<32x64xf32>) -> (tensor<4x7x64xf32>, tensor<4x7x64xf32>) {
  %p = attn.project %x, %w : (tensor<28x32xf32>, tensor<32x64xf32>) -> tensor<28x64xf32>
  %e = tensor.expand_shape %p [[0, 1], [2]] output_shape [4, 7, 64] : tensor<28x64xf32> into tensor<4x7x64xf32>
  %t = math.tanh %e : tensor<4x7x64xf32>
  return %e, %t : tensor<4x7x64xf32>, tensor<4x7x64xf32>
}

// -----
// What is no product's stays.
// CHECK-LABEL: func.func @other
// CHECK: tensor.expand_shape
// CHECK: math.tanh %{{.*}} : tensor<4x7x64xf32>
func.func @other(%x: tensor<28x64xf32>) -> tensor<4x7x64xf32> {
  %e = tensor.expand_shape %x [[0, 1], [2]] output_shape [4, 7, 64] : tensor<28x64xf32> into tensor<4x7x64xf32>
  %t = math.tanh %e : tensor<4x7x64xf32>
  return %t : tensor<4x7x64xf32>
}
