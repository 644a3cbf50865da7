// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-raise-attention --canonicalize --split-input-file | FileCheck %s

#qd = affine_map<(h, q, k, d) -> (h, q, d)>
#kd = affine_map<(h, q, k, d) -> (h, k, d)>
#qk = affine_map<(h, q, k, d) -> (h, q, k)>

// A scale on either operand and a mask of booleans; sizes are unknown.
// CHECK-LABEL: @masked
// CHECK-NEXT: %[[S:.*]] = attn.scores %arg0, %arg1 : (tensor<4x?x16xf32>, tensor<4x?x16xf32>) -> tensor<4x?x?xf32>
// CHECK-NEXT: %[[C:.*]] = attn.scale %[[S]] by 2.500000e-01
// CHECK-NEXT: %[[M:.*]] = attn.mask %[[C]] where not %arg3
// CHECK-NEXT: %[[W:.*]] = attn.softmax %[[M]]
// CHECK-NEXT: attn.context %[[W]], %arg2
// CHECK-NEXT: return
func.func @masked(%q: tensor<4x?x16xf32>, %k: tensor<4x?x16xf32>, %v: tensor<4x?x16xf32>, %hidden: tensor<4x?x?xi1>, %n: index, %m: index) -> tensor<4x?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %low = arith.constant 0xFF800000 : f32
  %halves = tensor.splat %half[%n] : tensor<4x?x16xf32>
  %scaled = arith.mulf %q, %halves : tensor<4x?x16xf32>
  %e = tensor.empty(%n, %m) : tensor<4x?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
  %s = linalg.generic {indexing_maps = [#qd, #kd, #qk], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%scaled, %k : tensor<4x?x16xf32>, tensor<4x?x16xf32>) outs(%z : tensor<4x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %c, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x?x?xf32>
  %halves2 = tensor.splat %half[%n, %m] : tensor<4x?x?xf32>
  %s2 = arith.mulf %s, %halves2 : tensor<4x?x?xf32>
  %lows = tensor.splat %low[%n, %m] : tensor<4x?x?xf32>
  %masked = arith.select %hidden, %lows, %s2 : tensor<4x?x?xi1>, tensor<4x?x?xf32>
  %w = linalg.softmax dimension(2) ins(%masked : tensor<4x?x?xf32>) outs(%e : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
  %eo = tensor.empty(%n) : tensor<4x?x16xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x?x16xf32>) -> tensor<4x?x16xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<4x?x?xf32>, tensor<4x?x16xf32>) outs(%zo : tensor<4x?x16xf32>) -> tensor<4x?x16xf32>
  return %o : tensor<4x?x16xf32>
}

// -----

// Sums of 0 and the lowest number exclude where the model says so; the code of
// a condition on indices is a mask function. Others read the weights, too.
// CHECK-LABEL: @lowest
// CHECK: %[[M:.*]] = attn.mask_fn %{{.*}} (%{{.*}}, %{{.*}}, %[[I:.*]], %[[J:.*]]) {
// CHECK-NEXT: %[[C:.*]] = arith.cmpi sge, %[[I]], %[[J]] : index
// CHECK-NEXT: attn.yield %[[C]]
// CHECK: %[[W:.*]] = attn.softmax %[[M]]
// CHECK: %[[O:.*]] = attn.context %[[W]]
// CHECK-NEXT: return %[[O]], %[[W]]
func.func @lowest(%q: tensor<9x16xf32>, %k: tensor<16x9xf32>, %v: tensor<9x8xf32>) -> (tensor<9x8xf32>, tensor<9x9xf32>) attributes {attn.lowest_excludes} {
  %z = arith.constant dense<0.0> : tensor<9x9xf32>
  %s = linalg.matmul ins(%q, %k : tensor<9x16xf32>, tensor<16x9xf32>) outs(%z : tensor<9x9xf32>) -> tensor<9x9xf32>
  %e = tensor.empty() : tensor<9x9xf32>
  %low = arith.constant -3.40282347E+38 : f32
  %zero = arith.constant 0.0 : f32
  %m = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<9x9xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi sge, %i, %j : index
    %x = arith.select %c, %zero, %low : f32
    linalg.yield %x : f32
  } -> tensor<9x9xf32>
  %masked = arith.addf %s, %m : tensor<9x9xf32>
  %w = linalg.softmax dimension(1) ins(%masked : tensor<9x9xf32>) outs(%e : tensor<9x9xf32>) -> tensor<9x9xf32>
  %zo = arith.constant dense<0.0> : tensor<9x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<9x9xf32>, tensor<9x8xf32>) outs(%zo : tensor<9x8xf32>) -> tensor<9x8xf32>
  return %o, %w : tensor<9x8xf32>, tensor<9x9xf32>
}

// -----

// Without the attribute the lowest number is a number: a bias, or part of a
// function.
// CHECK-LABEL: @literal
// CHECK: attn.score_mod
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK-NOT: attn.mask
// CHECK: attn.context
func.func @literal(%q: tensor<9x16xf32>, %k: tensor<16x9xf32>, %v: tensor<9x8xf32>, %seen: tensor<9x9xi1>) -> tensor<9x8xf32> {
  %z = arith.constant dense<0.0> : tensor<9x9xf32>
  %s = linalg.matmul ins(%q, %k : tensor<9x16xf32>, tensor<16x9xf32>) outs(%z : tensor<9x9xf32>) -> tensor<9x9xf32>
  %low = arith.constant dense<-3.40282347E+38> : tensor<9x9xf32>
  %masked = arith.select %seen, %s, %low : tensor<9x9xi1>, tensor<9x9xf32>
  %e = tensor.empty() : tensor<9x9xf32>
  %w = linalg.softmax dimension(1) ins(%masked : tensor<9x9xf32>) outs(%e : tensor<9x9xf32>) -> tensor<9x9xf32>
  %zo = arith.constant dense<0.0> : tensor<9x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<9x9xf32>, tensor<9x8xf32>) outs(%zo : tensor<9x8xf32>) -> tensor<9x8xf32>
  return %o : tensor<9x8xf32>
}

// -----

// A function of 16 bits is computed in f32.
// CHECK-LABEL: @narrow_function
// CHECK: attn.score_mod %{{.*}} (%[[S:.*]]: f32, %{{.*}}) {
// CHECK-NEXT: %[[T:.*]] = math.tanh %[[S]] : f32
// CHECK-NEXT: attn.yield %[[T]]
func.func @narrow_function(%q: tensor<9x16xf16>, %k: tensor<16x9xf16>, %v: tensor<9x8xf16>) -> tensor<9x8xf16> {
  %z = arith.constant dense<0.0> : tensor<9x9xf16>
  %s = linalg.matmul ins(%q, %k : tensor<9x16xf16>, tensor<16x9xf16>) outs(%z : tensor<9x9xf16>) -> tensor<9x9xf16>
  %t = math.tanh %s : tensor<9x9xf16>
  %e = tensor.empty() : tensor<9x9xf16>
  %w = linalg.softmax dimension(1) ins(%t : tensor<9x9xf16>) outs(%e : tensor<9x9xf16>) -> tensor<9x9xf16>
  %zo = arith.constant dense<0.0> : tensor<9x8xf16>
  %o = linalg.matmul ins(%w, %v : tensor<9x9xf16>, tensor<9x8xf16>) outs(%zo : tensor<9x8xf16>) -> tensor<9x8xf16>
  return %o : tensor<9x8xf16>
}

// -----

// A constant that is a band: at most two keys behind, one ahead.
// CHECK-LABEL: @band
// CHECK: attn.mask %{{.*}} where causal(offset = 1) and window(left = 2)
func.func @band(%q: tensor<4x16xf32>, %k: tensor<16x4xf32>, %v: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  %s = linalg.matmul ins(%q, %k : tensor<4x16xf32>, tensor<16x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = arith.constant dense<[[0.0, 0.0, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0, 0.0], [0xFF800000, 0.0, 0.0, 0.0]]> : tensor<4x4xf32>
  %masked = arith.addf %s, %m : tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %w = linalg.softmax dimension(1) ins(%masked : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %zo = arith.constant dense<0.0> : tensor<4x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<4x4xf32>, tensor<4x8xf32>) outs(%zo : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %o : tensor<4x8xf32>
}

// -----

// Batch entries and heads in one dimension of unknown size: each is a batch entry of one head.
// CHECK-LABEL: @batch_of_heads
// CHECK:         attn.scores %{{.*}}, %{{.*}} : (tensor<?x1x?x8xf32>, tensor<?x1x?x8xf32>) -> tensor<?x1x?x?xf32>
// CHECK:         %[[O:.*]] = attn.context %{{.*}}, %{{.*}} : (tensor<?x1x?x?xf32>, tensor<?x1x?x8xf32>) -> tensor<?x1x?x8xf32>
// CHECK:         %[[J:.*]] = tensor.collapse_shape %[[O]] {{.*}} : tensor<?x1x?x8xf32> into tensor<?x?x8xf32>
// CHECK:         return %[[J]]
func.func @batch_of_heads(%q: tensor<?x?x8xf32>, %k: tensor<?x8x?xf32>, %v: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c0 : tensor<?x?x8xf32>
  %s = tensor.dim %q, %c1 : tensor<?x?x8xf32>
  %t = tensor.dim %v, %c1 : tensor<?x?x8xf32>
  %e = tensor.empty(%n, %s, %t) : tensor<?x?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %p = linalg.batch_matmul ins(%q, %k : tensor<?x?x8xf32>, tensor<?x8x?xf32>) outs(%z : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %w = linalg.softmax dimension(2) ins(%p : tensor<?x?x?xf32>) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %f = tensor.empty(%n, %s) : tensor<?x?x8xf32>
  %y = linalg.fill ins(%zero : f32) outs(%f : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<?x?x?xf32>, tensor<?x?x8xf32>) outs(%y : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %o : tensor<?x?x8xf32>
}

// -----

// A tensor of which the queries are another view says how many heads there are; the mask is one of batch entries.
// CHECK-LABEL: @heads_apart
// CHECK-SAME:    (%[[Q:[a-z0-9]+]]: tensor<?x4x?x8xf32>, %[[K:[a-z0-9]+]]: tensor<?x4x?x8xf32>, %[[V:[a-z0-9]+]]: tensor<?x4x?x8xf32>, %[[M:[a-z0-9]+]]: tensor<?x1x?x?xf32>
// CHECK:         %[[S:.*]] = attn.scores %[[Q]], %[[K]] : (tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>) -> tensor<?x4x?x?xf32>
// CHECK:         attn.bias %[[S]], %[[M]]
// CHECK:         attn.context %{{.*}}, %[[V]] : (tensor<?x4x?x?xf32>, tensor<?x4x?x8xf32>) -> tensor<?x4x?x8xf32>
func.func @heads_apart(%q4: tensor<?x4x?x8xf32>, %k4: tensor<?x4x?x8xf32>, %v4: tensor<?x4x?x8xf32>, %m: tensor<?x1x?x?xf32>) -> tensor<?x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %q4, %c0 : tensor<?x4x?x8xf32>
  %s = tensor.dim %q4, %c2 : tensor<?x4x?x8xf32>
  %t = tensor.dim %k4, %c2 : tensor<?x4x?x8xf32>
  %n = arith.muli %b, %c4 : index
  %q = tensor.collapse_shape %q4 [[0, 1], [2], [3]] : tensor<?x4x?x8xf32> into tensor<?x?x8xf32>
  %k = tensor.collapse_shape %k4 [[0, 1], [2], [3]] : tensor<?x4x?x8xf32> into tensor<?x?x8xf32>
  %v = tensor.collapse_shape %v4 [[0, 1], [2], [3]] : tensor<?x4x?x8xf32> into tensor<?x?x8xf32>
  %e = tensor.empty(%n, %s, %t) : tensor<?x?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %et = tensor.empty(%n, %t) : tensor<?x8x?xf32>
  %kt = linalg.transpose ins(%k : tensor<?x?x8xf32>) outs(%et : tensor<?x8x?xf32>) permutation = [0, 2, 1]
  %p = linalg.batch_matmul ins(%q, %kt : tensor<?x?x8xf32>, tensor<?x8x?xf32>) outs(%z : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %p4 = tensor.expand_shape %p [[0, 1], [2], [3]] output_shape [%b, 4, %s, %t] : tensor<?x?x?xf32> into tensor<?x4x?x?xf32>
  %m3 = tensor.collapse_shape %m [[0, 1], [2], [3]] : tensor<?x1x?x?xf32> into tensor<?x?x?xf32>
  %e4 = tensor.empty(%b, %s, %t) : tensor<?x4x?x?xf32>
  %m4 = linalg.broadcast ins(%m3 : tensor<?x?x?xf32>) outs(%e4 : tensor<?x4x?x?xf32>) dimensions = [1]
  %a4 = arith.addf %p4, %m4 : tensor<?x4x?x?xf32>
  %a = tensor.collapse_shape %a4 [[0, 1], [2], [3]] : tensor<?x4x?x?xf32> into tensor<?x?x?xf32>
  %w = linalg.softmax dimension(2) ins(%a : tensor<?x?x?xf32>) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %f = tensor.empty(%n, %s) : tensor<?x?x8xf32>
  %y = linalg.fill ins(%zero : f32) outs(%f : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<?x?x?xf32>, tensor<?x?x8xf32>) outs(%y : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %o : tensor<?x?x8xf32>
}

// -----

// Where queries of as many heads do not fit, each is a batch entry of one head.
// CHECK-LABEL: @heads_of_another
// CHECK:         attn.scores %{{.*}}, %{{.*}} : (tensor<?x1x?x8xf32>, tensor<?x1x?x8xf32>) -> tensor<?x1x?x?xf32>
func.func @heads_of_another(%q: tensor<?x?x8xf32>, %k: tensor<?x8x?xf32>, %v: tensor<?x?x8xf32>, %m4: tensor<?x4x?x?xf32>) -> tensor<?x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c0 : tensor<?x?x8xf32>
  %s = tensor.dim %q, %c1 : tensor<?x?x8xf32>
  %t = tensor.dim %v, %c1 : tensor<?x?x8xf32>
  %e = tensor.empty(%n, %s, %t) : tensor<?x?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %p = linalg.batch_matmul ins(%q, %k : tensor<?x?x8xf32>, tensor<?x8x?xf32>) outs(%z : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %m = tensor.collapse_shape %m4 [[0, 1], [2], [3]] : tensor<?x4x?x?xf32> into tensor<?x?x?xf32>
  %a = arith.addf %p, %m : tensor<?x?x?xf32>
  %w = linalg.softmax dimension(2) ins(%a : tensor<?x?x?xf32>) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %f = tensor.empty(%n, %s) : tensor<?x?x8xf32>
  %y = linalg.fill ins(%zero : f32) outs(%f : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<?x?x?xf32>, tensor<?x?x8xf32>) outs(%y : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %o : tensor<?x?x8xf32>
}

// -----

// One of which no values are read stays as it was.
// CHECK-LABEL: @weights_alone
// CHECK-NOT:     tensor<?x1x?x?xf32>
// CHECK:         linalg.softmax dimension(2)
func.func @weights_alone(%s: tensor<?x?x?xf32>, %e: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %w = linalg.softmax dimension(2) ins(%s : tensor<?x?x?xf32>) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %w : tensor<?x?x?xf32>
}

// -----

// A lookup, as that of a bias per bucket of distances, is a bias.
// CHECK-LABEL: @lookup
// CHECK: %[[B:.*]] = linalg.generic
// CHECK: attn.bias %{{.*}}, %[[B]] : tensor<9x9xf32>, tensor<9x9xf32>
// CHECK: attn.context
func.func @lookup(%q: tensor<9x16xf32>, %k: tensor<16x9xf32>, %v: tensor<9x8xf32>, %bucket: tensor<9x9xindex>, %table: tensor<32xf32>) -> tensor<9x8xf32> {
  %z = arith.constant dense<0.0> : tensor<9x9xf32>
  %s = linalg.matmul ins(%q, %k : tensor<9x16xf32>, tensor<16x9xf32>) outs(%z : tensor<9x9xf32>) -> tensor<9x9xf32>
  %e = tensor.empty() : tensor<9x9xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<9x9xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %at = tensor.extract %bucket[%i, %j] : tensor<9x9xindex>
    %x = tensor.extract %table[%at] : tensor<32xf32>
    linalg.yield %x : f32
  } -> tensor<9x9xf32>
  %biased = arith.addf %s, %b : tensor<9x9xf32>
  %w = linalg.softmax dimension(1) ins(%biased : tensor<9x9xf32>) outs(%e : tensor<9x9xf32>) -> tensor<9x9xf32>
  %zo = arith.constant dense<0.0> : tensor<9x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<9x9xf32>, tensor<9x8xf32>) outs(%zo : tensor<9x8xf32>) -> tensor<9x8xf32>
  return %o : tensor<9x8xf32>
}

// -----

// What sums in f32 and rounds is the context in f16, which rounds once; groups
// of queries are taken apart behind the rounding.
// CHECK-LABEL: @rounded
// CHECK: %[[O:.*]] = attn.context {{.*}} -> tensor<2x2x9x8xf16>
// CHECK-NEXT: %[[Y:.*]] = tensor.collapse_shape %[[O]]
// CHECK-NEXT: return %[[Y]]
func.func @rounded(%q: tensor<4x9x16xf16>, %k: tensor<2x16x9xf16>, %v: tensor<2x9x8xf16>) -> tensor<4x9x8xf16> {
  %zero = arith.constant dense<0.0> : tensor<2x18x9xf32>
  %groups = tensor.expand_shape %q [[0, 1], [2], [3]] output_shape [2, 2, 9, 16] : tensor<4x9x16xf16> into tensor<2x2x9x16xf16>
  %rows = tensor.collapse_shape %groups [[0], [1, 2], [3]] : tensor<2x2x9x16xf16> into tensor<2x18x16xf16>
  %s = linalg.batch_matmul ins(%rows, %k : tensor<2x18x16xf16>, tensor<2x16x9xf16>) outs(%zero : tensor<2x18x9xf32>) -> tensor<2x18x9xf32>
  %t = arith.truncf %s : tensor<2x18x9xf32> to tensor<2x18x9xf16>
  %apart = tensor.expand_shape %t [[0], [1, 2], [3]] output_shape [2, 2, 9, 9] : tensor<2x18x9xf16> into tensor<2x2x9x9xf16>
  %e = tensor.empty() : tensor<2x2x9x9xf16>
  %w = linalg.softmax dimension(3) ins(%apart : tensor<2x2x9x9xf16>) outs(%e : tensor<2x2x9x9xf16>) -> tensor<2x2x9x9xf16>
  %joined = tensor.collapse_shape %w [[0], [1, 2], [3]] : tensor<2x2x9x9xf16> into tensor<2x18x9xf16>
  %zo = arith.constant dense<0.0> : tensor<2x18x8xf32>
  %o = linalg.batch_matmul ins(%joined, %v : tensor<2x18x9xf16>, tensor<2x9x8xf16>) outs(%zo : tensor<2x18x8xf32>) -> tensor<2x18x8xf32>
  %r = arith.truncf %o : tensor<2x18x8xf32> to tensor<2x18x8xf16>
  %each = tensor.expand_shape %r [[0], [1, 2], [3]] output_shape [2, 2, 9, 8] : tensor<2x18x8xf16> into tensor<2x2x9x8xf16>
  %y = tensor.collapse_shape %each [[0, 1], [2], [3]] : tensor<2x2x9x8xf16> into tensor<4x9x8xf16>
  return %y : tensor<4x9x8xf16>
}

// -----

// Scores plus another product, as of relative positions: that is a bias.
// CHECK-LABEL: func.func @two_products
// CHECK:       %[[OTHER:.*]] = linalg.matmul ins(%arg0, %arg2
// CHECK:       %[[S:.*]] = attn.scores
// CHECK:       %[[B:.*]] = attn.bias %[[S]], %[[OTHER]]
// CHECK:       attn.softmax %[[B]]
func.func @two_products(%q: tensor<9x16xf32>, %k: tensor<16x9xf32>, %r: tensor<16x9xf32>, %v: tensor<9x8xf32>) -> tensor<9x8xf32> {
  %z = arith.constant dense<0.0> : tensor<9x9xf32>
  %s = linalg.matmul ins(%q, %k : tensor<9x16xf32>, tensor<16x9xf32>) outs(%z : tensor<9x9xf32>) -> tensor<9x9xf32>
  %t = linalg.matmul ins(%q, %r : tensor<9x16xf32>, tensor<16x9xf32>) outs(%z : tensor<9x9xf32>) -> tensor<9x9xf32>
  %sum = arith.addf %s, %t : tensor<9x9xf32>
  %e = tensor.empty() : tensor<9x9xf32>
  %w = linalg.softmax dimension(1) ins(%sum : tensor<9x9xf32>) outs(%e : tensor<9x9xf32>) -> tensor<9x9xf32>
  %zo = arith.constant dense<0.0> : tensor<9x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<9x9xf32>, tensor<9x8xf32>) outs(%zo : tensor<9x8xf32>) -> tensor<9x8xf32>
  return %o : tensor<9x8xf32>
}

// -----

// Softmax of columns, of K times Q: the same attention.
// CHECK-LABEL: func.func @columns
// CHECK-NEXT:  %[[S:.*]] = attn.scores %arg0, %arg1
// CHECK-NEXT:  %[[W:.*]] = attn.softmax %[[S]]
// CHECK-NEXT:  %[[O:.*]] = attn.context %[[W]], %arg2
// CHECK-NEXT:  return %[[O]]
func.func @columns(%q: tensor<4x9x16xf32>, %k: tensor<4x7x16xf32>, %v: tensor<4x7x8xf32>) -> tensor<4x9x8xf32> {
  %et = tensor.empty() : tensor<4x16x9xf32>
  %qt = linalg.transpose ins(%q : tensor<4x9x16xf32>) outs(%et : tensor<4x16x9xf32>) permutation = [0, 2, 1]
  %z = arith.constant dense<0.0> : tensor<4x7x9xf32>
  %s = linalg.batch_matmul ins(%k, %qt : tensor<4x7x16xf32>, tensor<4x16x9xf32>) outs(%z : tensor<4x7x9xf32>) -> tensor<4x7x9xf32>
  %e = tensor.empty() : tensor<4x7x9xf32>
  %w = linalg.softmax dimension(1) ins(%s : tensor<4x7x9xf32>) outs(%e : tensor<4x7x9xf32>) -> tensor<4x7x9xf32>
  %ew = tensor.empty() : tensor<4x9x7xf32>
  %wt = linalg.transpose ins(%w : tensor<4x7x9xf32>) outs(%ew : tensor<4x9x7xf32>) permutation = [0, 2, 1]
  %zo = arith.constant dense<0.0> : tensor<4x9x8xf32>
  %o = linalg.batch_matmul ins(%wt, %v : tensor<4x9x7xf32>, tensor<4x7x8xf32>) outs(%zo : tensor<4x9x8xf32>) -> tensor<4x9x8xf32>
  return %o : tensor<4x9x8xf32>
}

// -----

// What cannot be read stays as it was.
// CHECK-LABEL: func.func @columns_alone
// CHECK-NOT:   linalg.transpose
// CHECK:       linalg.softmax dimension(1)
// CHECK-NEXT:  return
func.func @columns_alone(%s: tensor<4x7x9xf32>) -> tensor<4x7x9xf32> {
  %e = tensor.empty() : tensor<4x7x9xf32>
  %w = linalg.softmax dimension(1) ins(%s : tensor<4x7x9xf32>) outs(%e : tensor<4x7x9xf32>) -> tensor<4x7x9xf32>
  return %w : tensor<4x7x9xf32>
}

// -----

// Heads behind the keys, as einsum("nqhd,nkhd->nqkh") has them: the softmax goes along the third dimension.
// CHECK-LABEL: @heads_last
// CHECK:         attn.scores %{{.*}}, %{{.*}} : (tensor<2x4x5x8xf32>, tensor<2x4x9x8xf32>) -> tensor<2x4x5x9xf32>
// CHECK:         attn.softmax %{{.*}} : tensor<2x4x5x9xf32>
// CHECK:         attn.context %{{.*}}, %{{.*}} : (tensor<2x4x5x9xf32>, tensor<2x4x9x8xf32>) -> tensor<2x4x5x8xf32>
// CHECK-NOT:     linalg.softmax
#q = affine_map<(n, q, k, h, d) -> (n, q, h, d)>
#k = affine_map<(n, q, k, h, d) -> (n, k, h, d)>
#s = affine_map<(n, q, k, h, d) -> (n, q, k, h)>
func.func @heads_last(%q: tensor<2x5x4x8xf32>, %k: tensor<2x9x4x8xf32>, %v: tensor<2x9x4x8xf32>) -> tensor<2x5x4x8xf32> {
  %zs = arith.constant dense<0.0> : tensor<2x5x9x4xf32>
  %zo = arith.constant dense<0.0> : tensor<2x5x4x8xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x4x8xf32>, tensor<2x9x4x8xf32>) outs(%zs : tensor<2x5x9x4xf32>) -> tensor<2x5x9x4xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<2x5x9x4xf32>) outs(%zs : tensor<2x5x9x4xf32>) -> tensor<2x5x9x4xf32>
  %o = linalg.contract indexing_maps = [#s, #k, #q] ins(%w, %v : tensor<2x5x9x4xf32>, tensor<2x9x4x8xf32>) outs(%zo : tensor<2x5x4x8xf32>) -> tensor<2x5x4x8xf32>
  return %o : tensor<2x5x4x8xf32>
}

// -----

// Groups of queries that share a key head are a dimension of their own; joined, they are 6 heads.
// CHECK-LABEL: @groups
// CHECK:         attn.scores %{{.*}}, %{{.*}} : (tensor<2x6x5x8xf32>, tensor<2x2x9x8xf32>) -> tensor<2x6x5x9xf32>
// CHECK:         attn.context %{{.*}}, %{{.*}} : (tensor<2x6x5x9xf32>, tensor<2x2x9x8xf32>) -> tensor<2x6x5x8xf32>
// CHECK-NOT:     linalg.softmax
#q = affine_map<(b, k, g, t, s, d) -> (b, t, k, g, d)>
#k = affine_map<(b, k, g, t, s, d) -> (b, s, k, d)>
#s = affine_map<(b, k, g, t, s, d) -> (b, k, g, t, s)>
func.func @groups(%q: tensor<2x5x2x3x8xf32>, %k: tensor<2x9x2x8xf32>, %v: tensor<2x9x2x8xf32>) -> tensor<2x5x48xf32> {
  %zs = arith.constant dense<0.0> : tensor<2x2x3x5x9xf32>
  %zo = arith.constant dense<0.0> : tensor<2x5x2x3x8xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x2x3x8xf32>, tensor<2x9x2x8xf32>) outs(%zs : tensor<2x2x3x5x9xf32>) -> tensor<2x2x3x5x9xf32>
  %w = linalg.softmax dimension(4) ins(%s : tensor<2x2x3x5x9xf32>) outs(%zs : tensor<2x2x3x5x9xf32>) -> tensor<2x2x3x5x9xf32>
  %o = linalg.contract indexing_maps = [#s, #k, #q] ins(%w, %v : tensor<2x2x3x5x9xf32>, tensor<2x9x2x8xf32>) outs(%zo : tensor<2x5x2x3x8xf32>) -> tensor<2x5x2x3x8xf32>
  %j = tensor.collapse_shape %o [[0], [1], [2, 3, 4]] : tensor<2x5x2x3x8xf32> into tensor<2x5x48xf32>
  return %j : tensor<2x5x48xf32>
}

// -----

// attn.scale is a scale, wherever it stands.
// CHECK-LABEL: @scale_op
// CHECK:         %[[S:.*]] = attn.scores %arg0, %arg1
// CHECK:         attn.scale %[[S]] by 2.500000e-01
// CHECK:         attn.context
func.func @scale_op(%q: tensor<9x16xf32>, %k: tensor<9x16xf32>, %v: tensor<9x8xf32>) -> tensor<9x8xf32> {
  %z = arith.constant dense<0.0> : tensor<9x9xf32>
  %zo = arith.constant dense<0.0> : tensor<9x8xf32>
  %e = tensor.empty() : tensor<16x9xf32>
  %half = attn.scale %q by 0.5 : tensor<9x16xf32>
  %kt = linalg.transpose ins(%k : tensor<9x16xf32>) outs(%e : tensor<16x9xf32>) permutation = [1, 0]
  %s = linalg.matmul ins(%half, %kt : tensor<9x16xf32>, tensor<16x9xf32>) outs(%z : tensor<9x9xf32>) -> tensor<9x9xf32>
  %t = attn.scale %s by 0.5 : tensor<9x9xf32>
  %w = linalg.softmax dimension(1) ins(%t : tensor<9x9xf32>) outs(%z : tensor<9x9xf32>) -> tensor<9x9xf32>
  %o = linalg.matmul ins(%w, %v : tensor<9x9xf32>, tensor<9x8xf32>) outs(%zo : tensor<9x8xf32>) -> tensor<9x8xf32>
  return %o : tensor<9x8xf32>
}
