// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rotary embedding that is written out becomes attn.rope: both pairings, concats in front of the products and behind them, angles per row or per
// batch entry and row, heads in front of rows or behind them, features that stay.
//
// RUN: attn-opt %s --split-input-file --attn-raise-rope --canonicalize | FileCheck %s
// RUN: attn-opt %s --split-input-file --attn-raise-rope --remarks-filter-passed=attn-raise-rope --remark-policy=all -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-COUNT-8: read as rotary embedding
// REMARK-NOT:     not read

// One angle per feature, the same for both of a pair: a concat of the angles with themselves.
// CHECK-LABEL: func.func @concat_in_front(%arg0: tensor<?x4x?x16xf32>, %arg1: tensor<?x?x8xf32>)
// CHECK-DAG:     %[[C:.*]] = math.cos
// CHECK-DAG:     %[[S:.*]] = math.sin
// CHECK-DAG:     %[[HC:.*]] = tensor.extract_slice %[[C]][0, 0, 0] [%{{.*}}, %{{.*}}, 8] [1, 1, 1]
// CHECK-DAG:     %[[HS:.*]] = tensor.extract_slice %[[S]][0, 0, 0] [%{{.*}}, %{{.*}}, 8] [1, 1, 1]
// CHECK-DAG:     %[[RC:.*]] = tensor.collapse_shape %[[HC]] {{\[\[}}0, 1], [2]] : tensor<?x?x8xf32> into tensor<?x8xf32>
// CHECK-DAG:     %[[RS:.*]] = tensor.collapse_shape %[[HS]] {{\[\[}}0, 1], [2]] : tensor<?x?x8xf32> into tensor<?x8xf32>
// CHECK:         %[[AT:.*]] = linalg.generic
// CHECK:           %[[B:.*]] = linalg.index 0
// CHECK:           %[[ROW:.*]] = linalg.index 1
// CHECK:           %[[BEGIN:.*]] = arith.muli %[[B]], %{{.*}}
// CHECK:           arith.addi %[[BEGIN]], %[[ROW]]
// CHECK:         %[[Y:.*]] = attn.rope %arg0, %[[RC]], %[[RS]] at %[[AT]] : tensor<?x?xi64> {attn.row_for_row} : tensor<?x4x?x16xf32>, tensor<?x8xf32>
// CHECK:         return %[[Y]]
func.func @concat_in_front(%x: tensor<?x4x?x16xf32>, %angles: tensor<?x?x8xf32>) -> tensor<?x4x?x16xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %b = tensor.dim %x, %c0 : tensor<?x4x?x16xf32>
  %n = tensor.dim %x, %c2 : tensor<?x4x?x16xf32>
  %all = tensor.concat dim(2) %angles, %angles : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x16xf32>
  %cos = math.cos %all : tensor<?x?x16xf32>
  %sin = math.sin %all : tensor<?x?x16xf32>
  %e = tensor.empty(%b, %n) : tensor<?x4x?x16xf32>
  %c = linalg.broadcast ins(%cos : tensor<?x?x16xf32>) outs(%e : tensor<?x4x?x16xf32>) dimensions = [1]
  %s = linalg.broadcast ins(%sin : tensor<?x?x16xf32>) outs(%e : tensor<?x4x?x16xf32>) dimensions = [1]
  %x0 = tensor.extract_slice %x[0, 0, 0, 0] [%b, 4, %n, 8] [1, 1, 1, 1] : tensor<?x4x?x16xf32> to tensor<?x4x?x8xf32>
  %x1 = tensor.extract_slice %x[0, 0, 0, 8] [%b, 4, %n, 8] [1, 1, 1, 1] : tensor<?x4x?x16xf32> to tensor<?x4x?x8xf32>
  %m = arith.negf %x1 : tensor<?x4x?x8xf32>
  %r = tensor.concat dim(3) %m, %x0 : (tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>) -> tensor<?x4x?x16xf32>
  %p = arith.mulf %x, %c : tensor<?x4x?x16xf32>
  %q = arith.mulf %r, %s : tensor<?x4x?x16xf32>
  %y = arith.addf %p, %q : tensor<?x4x?x16xf32>
  return %y : tensor<?x4x?x16xf32>
}

// -----

// A table whose rows hold each angle twice, here of ones and zeros; rows have the positions 0, 1, ..
// CHECK-LABEL: func.func @constant_table
// CHECK:         attn.rope %arg0, %{{.*}}, %{{.*}} {attn.row_for_row} : tensor<2x3x4xf32>, tensor<3x2xf32>
func.func @constant_table(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %cos = arith.constant dense<[[1.0, 2.0, 1.0, 2.0], [3.0, 4.0, 3.0, 4.0], [5.0, 6.0, 5.0, 6.0]]> : tensor<3x4xf32>
  %sin = arith.constant dense<[[0.0, 2.0, 0.0, 2.0], [0.0, 4.0, 0.0, 4.0], [0.0, 6.0, 0.0, 6.0]]> : tensor<3x4xf32>
  %e = tensor.empty() : tensor<2x3x4xf32>
  %c = linalg.broadcast ins(%cos : tensor<3x4xf32>) outs(%e : tensor<2x3x4xf32>) dimensions = [0]
  %s = linalg.broadcast ins(%sin : tensor<3x4xf32>) outs(%e : tensor<2x3x4xf32>) dimensions = [0]
  %x0 = tensor.extract_slice %x[0, 0, 0] [2, 3, 2] [1, 1, 1] : tensor<2x3x4xf32> to tensor<2x3x2xf32>
  %x1 = tensor.extract_slice %x[0, 0, 2] [2, 3, 2] [1, 1, 1] : tensor<2x3x4xf32> to tensor<2x3x2xf32>
  %m = arith.negf %x1 : tensor<2x3x2xf32>
  %r = tensor.concat dim(2) %m, %x0 : (tensor<2x3x2xf32>, tensor<2x3x2xf32>) -> tensor<2x3x4xf32>
  %p = arith.mulf %c, %x : tensor<2x3x4xf32>
  %q = arith.mulf %s, %r : tensor<2x3x4xf32>
  %y = arith.addf %q, %p : tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// -----

// Neighbours, a concat behind the products, one row, 16-bit numbers.
// CHECK-LABEL: func.func @interleaved
// CHECK-DAG:     %[[C:.*]] = arith.extf %arg1 : tensor<1x2xf16> to tensor<1x2xf32>
// CHECK-DAG:     %[[S:.*]] = arith.extf %arg2 : tensor<1x2xf16> to tensor<1x2xf32>
// CHECK:         attn.rope %arg0, %[[C]], %[[S]] interleaved {attn.row_for_row} : tensor<2x1x4xf16>, tensor<1x2xf32>
func.func @interleaved(%x: tensor<2x1x4xf16>, %cos: tensor<1x2xf16>, %sin: tensor<1x2xf16>) -> tensor<2x1x4xf16> {
  %e = tensor.empty() : tensor<2x1x2xf16>
  %c = linalg.broadcast ins(%cos : tensor<1x2xf16>) outs(%e : tensor<2x1x2xf16>) dimensions = [0]
  %s = linalg.broadcast ins(%sin : tensor<1x2xf16>) outs(%e : tensor<2x1x2xf16>) dimensions = [0]
  %x0 = tensor.extract_slice %x[0, 0, 0] [2, 1, 2] [1, 1, 2] : tensor<2x1x4xf16> to tensor<2x1x2xf16>
  %x1 = tensor.extract_slice %x[0, 0, 1] [2, 1, 2] [1, 1, 2] : tensor<2x1x4xf16> to tensor<2x1x2xf16>
  %p0 = arith.mulf %x0, %c : tensor<2x1x2xf16>
  %q0 = arith.mulf %x1, %s : tensor<2x1x2xf16>
  %y0 = arith.subf %p0, %q0 : tensor<2x1x2xf16>
  %p1 = arith.mulf %x1, %c : tensor<2x1x2xf16>
  %q1 = arith.mulf %x0, %s : tensor<2x1x2xf16>
  %y1 = arith.addf %p1, %q1 : tensor<2x1x2xf16>
  %u0 = tensor.expand_shape %y0 [[0], [1], [2, 3]] output_shape [2, 1, 2, 1] : tensor<2x1x2xf16> into tensor<2x1x2x1xf16>
  %u1 = tensor.expand_shape %y1 [[0], [1], [2, 3]] output_shape [2, 1, 2, 1] : tensor<2x1x2xf16> into tensor<2x1x2x1xf16>
  %u = tensor.concat dim(3) %u0, %u1 : (tensor<2x1x2x1xf16>, tensor<2x1x2x1xf16>) -> tensor<2x1x2x2xf16>
  %y = tensor.collapse_shape %u [[0], [1], [2, 3]] : tensor<2x1x2x2xf16> into tensor<2x1x4xf16>
  return %y : tensor<2x1x4xf16>
}

// -----

// Heads behind rows: the op stands between two transposes. The sign of sin is the other one.
// CHECK-LABEL: func.func @rows_first(%arg0: tensor<?x?x4x4xf32>, %arg1: tensor<?x2xf32>, %arg2: tensor<?x2xf32>)
// CHECK-DAG:     %[[S:.*]] = arith.negf %arg2
// CHECK-DAG:     %[[T:.*]] = linalg.transpose ins(%arg0 : {{.*}} permutation = [0, 2, 1, 3]
// CHECK:         %[[Y:.*]] = attn.rope %[[T]], %arg1, %[[S]] {attn.row_for_row} : tensor<?x4x?x4xf32>, tensor<?x2xf32>
// CHECK:         linalg.transpose ins(%[[Y]] : {{.*}} permutation = [0, 2, 1, 3]
func.func @rows_first(%x: tensor<?x?x4x4xf32>, %cos: tensor<?x2xf32>, %sin: tensor<?x2xf32>) -> tensor<?x?x4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x4x4xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?x4x4xf32>
  %e = tensor.empty(%b, %n) : tensor<?x?x4x2xf32>
  %c = linalg.broadcast ins(%cos : tensor<?x2xf32>) outs(%e : tensor<?x?x4x2xf32>) dimensions = [0, 2]
  %s = linalg.broadcast ins(%sin : tensor<?x2xf32>) outs(%e : tensor<?x?x4x2xf32>) dimensions = [0, 2]
  %x0 = tensor.extract_slice %x[0, 0, 0, 0] [%b, %n, 4, 2] [1, 1, 1, 1] : tensor<?x?x4x4xf32> to tensor<?x?x4x2xf32>
  %x1 = tensor.extract_slice %x[0, 0, 0, 2] [%b, %n, 4, 2] [1, 1, 1, 1] : tensor<?x?x4x4xf32> to tensor<?x?x4x2xf32>
  %p0 = arith.mulf %x0, %c : tensor<?x?x4x2xf32>
  %q0 = arith.mulf %x1, %s : tensor<?x?x4x2xf32>
  %y0 = arith.addf %p0, %q0 : tensor<?x?x4x2xf32>
  %p1 = arith.mulf %x1, %c : tensor<?x?x4x2xf32>
  %q1 = arith.mulf %x0, %s : tensor<?x?x4x2xf32>
  %y1 = arith.subf %p1, %q1 : tensor<?x?x4x2xf32>
  %y = tensor.concat dim(3) %y0, %y1 : (tensor<?x?x4x2xf32>, tensor<?x?x4x2xf32>) -> tensor<?x?x4x4xf32>
  return %y : tensor<?x?x4x4xf32>
}

// -----

// Features that stay are concatenated behind: the op leaves them as they are. The input has another reader.
// CHECK-LABEL: func.func @part
// CHECK-NOT:     tensor.concat
// CHECK:         %[[Y:.*]] = attn.rope %arg0, %arg1, %arg2 {attn.row_for_row} : tensor<2x3x10xf32>, tensor<3x2xf32>
// CHECK:         return %[[Y]], %arg0
func.func @part(%x: tensor<2x3x10xf32>, %cos: tensor<3x2xf32>, %sin: tensor<3x2xf32>) -> (tensor<2x3x10xf32>, tensor<2x3x10xf32>) {
  %e = tensor.empty() : tensor<2x3x2xf32>
  %c = linalg.broadcast ins(%cos : tensor<3x2xf32>) outs(%e : tensor<2x3x2xf32>) dimensions = [0]
  %s = linalg.broadcast ins(%sin : tensor<3x2xf32>) outs(%e : tensor<2x3x2xf32>) dimensions = [0]
  %f = tensor.extract_slice %x[0, 0, 0] [2, 3, 4] [1, 1, 1] : tensor<2x3x10xf32> to tensor<2x3x4xf32>
  %g = tensor.extract_slice %x[0, 0, 4] [2, 3, 6] [1, 1, 1] : tensor<2x3x10xf32> to tensor<2x3x6xf32>
  %x0 = tensor.extract_slice %f[0, 0, 0] [2, 3, 2] [1, 1, 1] : tensor<2x3x4xf32> to tensor<2x3x2xf32>
  %x1 = tensor.extract_slice %f[0, 0, 2] [2, 3, 2] [1, 1, 1] : tensor<2x3x4xf32> to tensor<2x3x2xf32>
  %p0 = arith.mulf %x0, %c : tensor<2x3x2xf32>
  %q0 = arith.mulf %x1, %s : tensor<2x3x2xf32>
  %y0 = arith.subf %p0, %q0 : tensor<2x3x2xf32>
  %p1 = arith.mulf %x1, %c : tensor<2x3x2xf32>
  %q1 = arith.mulf %x0, %s : tensor<2x3x2xf32>
  %y1 = arith.addf %q1, %p1 : tensor<2x3x2xf32>
  %r = tensor.concat dim(2) %y0, %y1 : (tensor<2x3x2xf32>, tensor<2x3x2xf32>) -> tensor<2x3x4xf32>
  %y = tensor.concat dim(2) %r, %g : (tensor<2x3x4xf32>, tensor<2x3x6xf32>) -> tensor<2x3x10xf32>
  return %y, %x : tensor<2x3x10xf32>, tensor<2x3x10xf32>
}

// -----

// Angles repeated for neighbours, as repeat_interleave writes it; another use of the rotated tensor stays.
// CHECK-LABEL: func.func @repeated
// CHECK:         %[[C:.*]] = tensor.extract_slice %{{.*}}[0, 0] [3, 2] [1, 2] : tensor<3x4xf32> to tensor<3x2xf32>
// CHECK:         %[[Y:.*]] = attn.rope %arg0, %[[C]], %{{.*}} interleaved {attn.row_for_row} : tensor<3x4xf32>, tensor<3x2xf32>
// CHECK:         arith.addf %[[Y]], %[[Y]]
func.func @repeated(%x: tensor<3x4xf32>, %cos: tensor<3x2xf32>, %sin: tensor<3x2xf32>) -> tensor<3x4xf32> {
  %e = tensor.empty() : tensor<3x2x2xf32>
  %c2 = linalg.broadcast ins(%cos : tensor<3x2xf32>) outs(%e : tensor<3x2x2xf32>) dimensions = [2]
  %s2 = linalg.broadcast ins(%sin : tensor<3x2xf32>) outs(%e : tensor<3x2x2xf32>) dimensions = [2]
  %c = tensor.collapse_shape %c2 [[0], [1, 2]] : tensor<3x2x2xf32> into tensor<3x4xf32>
  %s = tensor.collapse_shape %s2 [[0], [1, 2]] : tensor<3x2x2xf32> into tensor<3x4xf32>
  %x0 = tensor.extract_slice %x[0, 0] [3, 2] [1, 2] : tensor<3x4xf32> to tensor<3x2xf32>
  %x1 = tensor.extract_slice %x[0, 1] [3, 2] [1, 2] : tensor<3x4xf32> to tensor<3x2xf32>
  %m = arith.negf %x1 : tensor<3x2xf32>
  %u0 = tensor.expand_shape %m [[0], [1, 2]] output_shape [3, 2, 1] : tensor<3x2xf32> into tensor<3x2x1xf32>
  %u1 = tensor.expand_shape %x0 [[0], [1, 2]] output_shape [3, 2, 1] : tensor<3x2xf32> into tensor<3x2x1xf32>
  %u = tensor.concat dim(2) %u0, %u1 : (tensor<3x2x1xf32>, tensor<3x2x1xf32>) -> tensor<3x2x2xf32>
  %r = tensor.collapse_shape %u [[0], [1, 2]] : tensor<3x2x2xf32> into tensor<3x4xf32>
  %p = arith.mulf %x, %c : tensor<3x4xf32>
  %q = arith.mulf %r, %s : tensor<3x4xf32>
  %y = arith.addf %p, %q : tensor<3x4xf32>
  %z = arith.addf %y, %y : tensor<3x4xf32>
  return %z : tensor<3x4xf32>
}

// -----

// Rows of a table by index: what is looked up does not depend on the feature.
// CHECK-LABEL: func.func @gathered
// CHECK:         attn.rope %arg0, %{{.*}}, %{{.*}} {attn.row_for_row} : tensor<2x3x4xf32>, tensor<3x2xf32>
func.func @gathered(%x: tensor<2x3x4xf32>, %at: tensor<3xindex>) -> tensor<2x3x4xf32> {
  %table = arith.constant dense<[[1.0, 2.0, 1.0, 2.0], [3.0, 4.0, 3.0, 4.0]]> : tensor<2x4xf32>
  %f = tensor.empty() : tensor<3x4xf32>
  %rows = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%f : tensor<3x4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %row = tensor.extract %at[%i] : tensor<3xindex>
    %number = tensor.extract %table[%row, %j] : tensor<2x4xf32>
    linalg.yield %number : f32
  } -> tensor<3x4xf32>
  %e = tensor.empty() : tensor<2x3x4xf32>
  %c = linalg.broadcast ins(%rows : tensor<3x4xf32>) outs(%e : tensor<2x3x4xf32>) dimensions = [0]
  %x0 = tensor.extract_slice %x[0, 0, 0] [2, 3, 2] [1, 1, 1] : tensor<2x3x4xf32> to tensor<2x3x2xf32>
  %x1 = tensor.extract_slice %x[0, 0, 2] [2, 3, 2] [1, 1, 1] : tensor<2x3x4xf32> to tensor<2x3x2xf32>
  %m = arith.negf %x1 : tensor<2x3x2xf32>
  %r = tensor.concat dim(2) %m, %x0 : (tensor<2x3x2xf32>, tensor<2x3x2xf32>) -> tensor<2x3x4xf32>
  %p = arith.mulf %x, %c : tensor<2x3x4xf32>
  %q = arith.mulf %r, %c : tensor<2x3x4xf32>
  %y = arith.addf %p, %q : tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// -----

// Cosines and sines side by side in one tensor: each is its own half.
// CHECK-LABEL: func.func @side_by_side
// CHECK-DAG:     %[[S:.*]] = tensor.extract_slice %arg1[0, 0] [3, 2] [1, 1] : tensor<3x4xf32> to tensor<3x2xf32>
// CHECK-DAG:     %[[C:.*]] = tensor.extract_slice %arg1[0, 2] [3, 2] [1, 1] : tensor<3x4xf32> to tensor<3x2xf32>
// CHECK:         attn.rope %arg0, %[[C]], %[[S]] {attn.row_for_row} : tensor<2x3x4xf32>, tensor<3x2xf32>
func.func @side_by_side(%x: tensor<2x3x4xf32>, %both: tensor<3x4xf32>) -> tensor<2x3x4xf32> {
  %e = tensor.empty() : tensor<2x3x4xf32>
  %all = linalg.broadcast ins(%both : tensor<3x4xf32>) outs(%e : tensor<2x3x4xf32>) dimensions = [0]
  %s = tensor.extract_slice %all[0, 0, 0] [2, 3, 2] [1, 1, 1] : tensor<2x3x4xf32> to tensor<2x3x2xf32>
  %c = tensor.extract_slice %all[0, 0, 2] [2, 3, 2] [1, 1, 1] : tensor<2x3x4xf32> to tensor<2x3x2xf32>
  %x0 = tensor.extract_slice %x[0, 0, 0] [2, 3, 2] [1, 1, 1] : tensor<2x3x4xf32> to tensor<2x3x2xf32>
  %x1 = tensor.extract_slice %x[0, 0, 2] [2, 3, 2] [1, 1, 1] : tensor<2x3x4xf32> to tensor<2x3x2xf32>
  %p0 = arith.mulf %x0, %c : tensor<2x3x2xf32>
  %q0 = arith.mulf %x1, %s : tensor<2x3x2xf32>
  %y0 = arith.subf %p0, %q0 : tensor<2x3x2xf32>
  %p1 = arith.mulf %x1, %c : tensor<2x3x2xf32>
  %q1 = arith.mulf %x0, %s : tensor<2x3x2xf32>
  %y1 = arith.addf %p1, %q1 : tensor<2x3x2xf32>
  %y = tensor.concat dim(2) %y0, %y1 : (tensor<2x3x2xf32>, tensor<2x3x2xf32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}
