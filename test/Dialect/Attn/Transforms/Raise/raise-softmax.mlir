// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax that is written out: with and without a maximum, as a quotient and as a product, along any dimension; in an attention it is fused.
//
// RUN: attn-opt %s --attn-raise-softmax --canonicalize --split-input-file | FileCheck %s
// RUN: attn-opt %s --attn-raise-softmax --attn-raise-attention --canonicalize --split-input-file | FileCheck %s --check-prefix=ATTENTION

// CHECK-LABEL: func.func @attention
// CHECK:         %[[S:.*]] = linalg.matmul
// CHECK:         linalg.softmax dimension(1) ins(%[[S]] : tensor<?x?xf32>)
// CHECK-NOT:     math.exp
// ATTENTION-LABEL: func.func @attention
// ATTENTION:         attn.scores %arg0, %arg1
// ATTENTION:         attn.softmax
// ATTENTION:         attn.context
func.func @attention(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %n = tensor.dim %q, %c0 : tensor<?x8xf32>
  %m = tensor.dim %k, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %f = tensor.empty(%n) : tensor<?xf32>
  %g = tensor.empty(%n) : tensor<?x8xf32>
  %h = tensor.empty(%m) : tensor<8x?xf32>
  %kt = linalg.transpose ins(%k : tensor<?x8xf32>) outs(%h : tensor<8x?xf32>) permutation = [1, 0]
  %zs = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.matmul ins(%q, %kt : tensor<?x8xf32>, tensor<8x?xf32>) outs(%zs : tensor<?x?xf32>) -> tensor<?x?xf32>
  %lows = linalg.fill ins(%low : f32) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  %most = linalg.reduce {arith.maximumf} ins(%s : tensor<?x?xf32>) outs(%lows : tensor<?xf32>) dimensions = [1]
  %mosts = linalg.broadcast ins(%most : tensor<?xf32>) outs(%e : tensor<?x?xf32>) dimensions = [1]
  %moved = arith.subf %s, %mosts : tensor<?x?xf32>
  %powers = math.exp %moved : tensor<?x?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.reduce {arith.addf} ins(%powers : tensor<?x?xf32>) outs(%zeros : tensor<?xf32>) dimensions = [1]
  %sums = linalg.broadcast ins(%sum : tensor<?xf32>) outs(%e : tensor<?x?xf32>) dimensions = [1]
  %w = arith.divf %powers, %sums : tensor<?x?xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%g : tensor<?x8xf32>) -> tensor<?x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<?x?xf32>, tensor<?x8xf32>) outs(%zo : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %o : tensor<?x8xf32>
}

// -----

// Along the first dimension, without a maximum, by a reciprocal; sums that are returned stay.
// CHECK-LABEL: func.func @product
// CHECK-DAG:     linalg.softmax dimension(0) ins(%arg0 : tensor<4x3xf32>)
// CHECK-DAG:     %[[E:.*]] = math.exp %arg0
// CHECK-DAG:     linalg.reduce { arith.addf } ins(%[[E]]
func.func @product(%x: tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>) {
  %zeros = arith.constant dense<0.0> : tensor<3xf32>
  %ones = arith.constant dense<1.0> : tensor<3xf32>
  %e = tensor.empty() : tensor<4x3xf32>
  %powers = math.exp %x : tensor<4x3xf32>
  %sum = linalg.reduce {arith.addf} ins(%powers : tensor<4x3xf32>) outs(%zeros : tensor<3xf32>) dimensions = [0]
  %part = arith.divf %ones, %sum : tensor<3xf32>
  %parts = linalg.broadcast ins(%part : tensor<3xf32>) outs(%e : tensor<4x3xf32>) dimensions = [0]
  %y = arith.mulf %powers, %parts : tensor<4x3xf32>
  return %y, %sum : tensor<4x3xf32>, tensor<3xf32>
}

// -----

// Sums of other powers, sums along another dimension, sums that begin at 1.
// CHECK-LABEL: func.func @others
// CHECK-NOT:     linalg.softmax
func.func @others(%x: tensor<3x3xf32>, %z: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>) {
  %zeros = arith.constant dense<0.0> : tensor<3xf32>
  %ones = arith.constant dense<1.0> : tensor<3xf32>
  %e = tensor.empty() : tensor<3x3xf32>
  %powers = math.exp %x : tensor<3x3xf32>
  %other = math.exp %z : tensor<3x3xf32>
  %sum = linalg.reduce {arith.addf} ins(%other : tensor<3x3xf32>) outs(%zeros : tensor<3xf32>) dimensions = [1]
  %sums = linalg.broadcast ins(%sum : tensor<3xf32>) outs(%e : tensor<3x3xf32>) dimensions = [1]
  %a = arith.divf %powers, %sums : tensor<3x3xf32>
  %own = linalg.reduce {arith.addf} ins(%powers : tensor<3x3xf32>) outs(%zeros : tensor<3xf32>) dimensions = [0]
  %owns = linalg.broadcast ins(%own : tensor<3xf32>) outs(%e : tensor<3x3xf32>) dimensions = [1]
  %b = arith.divf %powers, %owns : tensor<3x3xf32>
  %more = linalg.reduce {arith.addf} ins(%powers : tensor<3x3xf32>) outs(%ones : tensor<3xf32>) dimensions = [1]
  %mores = linalg.broadcast ins(%more : tensor<3xf32>) outs(%e : tensor<3x3xf32>) dimensions = [1]
  %c = arith.divf %powers, %mores : tensor<3x3xf32>
  return %a, %b, %c : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>
}

// A power of the logarithm of softmax.
// CHECK-LABEL: func.func @power_of_logarithm
// CHECK:       %[[Y:.*]] = linalg.softmax dimension(1) ins(%{{.*}} : tensor<4x8xf32>)
// CHECK-NEXT:  return %[[Y]]
func.func @power_of_logarithm(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %low = arith.constant dense<0xFF800000> : tensor<4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<4x8xf32>) outs(%low : tensor<4xf32>) dimensions = [1]
  %a = linalg.broadcast ins(%m : tensor<4xf32>) outs(%e : tensor<4x8xf32>) dimensions = [1]
  %d = arith.subf %x, %a : tensor<4x8xf32>
  %p = math.exp %d : tensor<4x8xf32>
  %t = linalg.reduce { arith.addf } ins(%p : tensor<4x8xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %l = math.log %t : tensor<4xf32>
  %s = linalg.broadcast ins(%l : tensor<4xf32>) outs(%e : tensor<4x8xf32>) dimensions = [1]
  %f = arith.subf %d, %s : tensor<4x8xf32>
  %y = math.exp %f : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// The logarithm of other sums.
// CHECK-LABEL: func.func @other_logarithm
// CHECK-NOT:   linalg.softmax
func.func @other_logarithm(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %p = math.exp %z : tensor<4x8xf32>
  %t = linalg.reduce { arith.addf } ins(%p : tensor<4x8xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %l = math.log %t : tensor<4xf32>
  %s = linalg.broadcast ins(%l : tensor<4xf32>) outs(%e : tensor<4x8xf32>) dimensions = [1]
  %f = arith.subf %x, %s : tensor<4x8xf32>
  %y = math.exp %f : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// One more score of 0 in each row: a sink of each head.
// CHECK-LABEL: func.func @one_more
// CHECK-SAME:    (%[[X:[a-z0-9]+]]: tensor<2x4x?x9xf32>
// CHECK:         %[[Z:.*]] = linalg.broadcast ins(%{{.*}} : tensor<4xf32>) outs(%{{.*}} : tensor<2x4x?x1xf32>) dimensions = [0, 2, 3]
// CHECK:         %[[C:.*]] = tensor.concat dim(3) %[[X]], %[[Z]]
// CHECK:         %[[W:.*]] = linalg.softmax dimension(3) ins(%[[C]] : tensor<2x4x?x10xf32>)
// CHECK:         tensor.extract_slice %[[W]][0, 0, 0, 0] [2, 4, %{{.*}}, 9] [1, 1, 1, 1]
func.func @one_more(%x: tensor<2x4x?x9xf32>, %e: tensor<2x4x?x9xf32>, %f: tensor<2x4x?xf32>) -> tensor<2x4x?x9xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c2 : tensor<2x4x?x9xf32>
  %powers = math.exp %x : tensor<2x4x?x9xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%f : tensor<2x4x?xf32>) -> tensor<2x4x?xf32>
  %sum = linalg.reduce {arith.addf} ins(%powers : tensor<2x4x?x9xf32>) outs(%zeros : tensor<2x4x?xf32>) dimensions = [3]
  %all = tensor.splat %one[%n] : tensor<2x4x?xf32>
  %more = arith.addf %sum, %all : tensor<2x4x?xf32>
  %sums = linalg.broadcast ins(%more : tensor<2x4x?xf32>) outs(%e : tensor<2x4x?x9xf32>) dimensions = [3]
  %w = arith.divf %powers, %sums : tensor<2x4x?x9xf32>
  return %w : tensor<2x4x?x9xf32>
}

// -----

// Powers that are moved by one number, and a power more that is moved by another, are no softmax; nor are sinks without heads.
// CHECK-LABEL: func.func @moved_by_others
// CHECK-NOT:     linalg.softmax
// CHECK:         return
func.func @moved_by_others(%x: tensor<4x3x9xf32>, %m: tensor<4x3xf32>, %n: tensor<4x3xf32>, %e: tensor<4x3x9xf32>) -> tensor<4x3x9xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x3xf32>
  %ms = linalg.broadcast ins(%m : tensor<4x3xf32>) outs(%e : tensor<4x3x9xf32>) dimensions = [2]
  %moved = arith.subf %x, %ms : tensor<4x3x9xf32>
  %powers = math.exp %moved : tensor<4x3x9xf32>
  %sum = linalg.reduce {arith.addf} ins(%powers : tensor<4x3x9xf32>) outs(%zeros : tensor<4x3xf32>) dimensions = [2]
  %less = arith.negf %n : tensor<4x3xf32>
  %power = math.exp %less : tensor<4x3xf32>
  %more = arith.addf %power, %sum : tensor<4x3xf32>
  %sums = linalg.broadcast ins(%more : tensor<4x3xf32>) outs(%e : tensor<4x3x9xf32>) dimensions = [2]
  %w = arith.divf %powers, %sums : tensor<4x3x9xf32>
  return %w : tensor<4x3x9xf32>
}
// CHECK-LABEL: func.func @no_heads
// CHECK-NOT:     linalg.softmax
// CHECK:         return
func.func @no_heads(%x: tensor<3x9xf32>, %e: tensor<3x9xf32>) -> tensor<3x9xf32> {
  %zeros = arith.constant dense<0.0> : tensor<3xf32>
  %ones = arith.constant dense<1.0> : tensor<3xf32>
  %powers = math.exp %x : tensor<3x9xf32>
  %sum = linalg.reduce {arith.addf} ins(%powers : tensor<3x9xf32>) outs(%zeros : tensor<3xf32>) dimensions = [1]
  %more = arith.addf %sum, %ones : tensor<3xf32>
  %sums = linalg.broadcast ins(%more : tensor<3xf32>) outs(%e : tensor<3x9xf32>) dimensions = [1]
  %w = arith.divf %powers, %sums : tensor<3x9xf32>
  return %w : tensor<3x9xf32>
}

// -----

// Sums of 16 bits that are kept in f32 and rounded.
// CHECK-LABEL: func.func @rounded
// CHECK:         linalg.softmax dimension(1) ins(%arg0 : tensor<4x3xbf16>)
// CHECK-NOT:     math.exp
#full = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @rounded(%x: tensor<4x3xbf16>) -> tensor<4x3xbf16> {
  %low = arith.constant dense<0xFF80> : tensor<4xbf16>
  %zeros = arith.constant dense<0.0> : tensor<4xf32>
  %e = tensor.empty() : tensor<4x3xbf16>
  %most = linalg.reduce {arith.maximumf} ins(%x : tensor<4x3xbf16>) outs(%low : tensor<4xbf16>) dimensions = [1]
  %mosts = linalg.broadcast ins(%most : tensor<4xbf16>) outs(%e : tensor<4x3xbf16>) dimensions = [1]
  %moved = arith.subf %x, %mosts : tensor<4x3xbf16>
  %powers = math.exp %moved : tensor<4x3xbf16>
  %sum = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%powers : tensor<4x3xbf16>) outs(%zeros : tensor<4xf32>) {
  ^bb0(%p: bf16, %o: f32):
    %w = arith.extf %p : bf16 to f32
    %s = arith.addf %o, %w : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %kept = tensor.expand_shape %sum [[0, 1]] output_shape [4, 1] : tensor<4xf32> into tensor<4x1xf32>
  %narrow = arith.truncf %kept : tensor<4x1xf32> to tensor<4x1xbf16>
  %row = tensor.collapse_shape %narrow [[0, 1]] : tensor<4x1xbf16> into tensor<4xbf16>
  %sums = linalg.broadcast ins(%row : tensor<4xbf16>) outs(%e : tensor<4x3xbf16>) dimensions = [1]
  %y = arith.divf %powers, %sums : tensor<4x3xbf16>
  return %y : tensor<4x3xbf16>
}
