// RUN: attn-reference %s | FileCheck %s
// The tensor and linalg dialects.

// CHECK-LABEL: @slices
// CHECK-NEXT{LITERAL}: [[4, 6], [7, 9]]
// CHECK-NEXT: [2, 5, 8]
// CHECK-NEXT{LITERAL}: [[1, 2, 3], [4, 10, 20], [7, 8, 9]]
// CHECK-NEXT: []
func.func @slices() -> (tensor<2x2xf32>, tensor<3xf32>, tensor<3x3xf32>, tensor<?xf32>) {
  %x = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]> : tensor<3x3xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %a = tensor.extract_slice %x[%c1, 0] [2, 2] [1, 2] : tensor<3x3xf32> to tensor<2x2xf32>
  %column = tensor.extract_slice %x[0, %c1] [3, 1] [1, 1] : tensor<3x3xf32> to tensor<3xf32>
  %new = arith.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %b = tensor.insert_slice %new into %x[1, 1] [1, 2] [1, 1] : tensor<2xf32> into tensor<3x3xf32>
  %row = tensor.collapse_shape %x [[0, 1]] : tensor<3x3xf32> into tensor<9xf32>
  %c9 = arith.constant 9 : index
  %none = tensor.extract_slice %row[%c9] [%c0] [1] : tensor<9xf32> to tensor<?xf32>
  return %a, %column, %b, %none : tensor<2x2xf32>, tensor<3xf32>, tensor<3x3xf32>, tensor<?xf32>
}

// CHECK-LABEL: @shapes
// CHECK-NEXT{LITERAL}: [[[1, 2]], [[3, 4]]]
// CHECK-NEXT: 2
// CHECK-NEXT: 4
// CHECK-NEXT: [5, 5]
// CHECK-NEXT: [nan, nan]
func.func @shapes() -> (tensor<?x1x2xf32>, index, f32, tensor<?xf32>, tensor<2xf32>) {
  %x = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %five = arith.constant 5.0 : f32
  %dynamic = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  %n = arith.constant 2 : index
  %y = tensor.expand_shape %dynamic [[0, 1, 2]] output_shape [%n, 1, 2] : tensor<?xf32> into tensor<?x1x2xf32>
  %d = tensor.dim %y, %c0 : tensor<?x1x2xf32>
  %e = tensor.extract %x[%c3] : tensor<4xf32>
  %s = tensor.splat %five[%n] : tensor<?xf32>
  %unwritten = tensor.empty() : tensor<2xf32>
  return %y, %d, %e, %s, %unwritten : tensor<?x1x2xf32>, index, f32, tensor<?xf32>, tensor<2xf32>
}

// CHECK-LABEL: @joined
// CHECK-NEXT{LITERAL}: [[1, 2, 5], [3, 4, 6]]
// CHECK-NEXT{LITERAL}: [[0.25, 0.5], [0.75, 0.5]]
// CHECK-NEXT{LITERAL}: [[0.25, 0.75], [0.5, 0.5]]
func.func @joined() -> (tensor<2x3xf64>, tensor<2x2xf64>, tensor<2x2xf64>) {
  %x = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf64>
  %y = arith.constant dense<[[5.0], [6.0]]> : tensor<2x1xf64>
  %j = tensor.concat dim(1) %x, %y : (tensor<2x2xf64>, tensor<2x1xf64>) -> tensor<2x3xf64>
  %e = tensor.empty() : tensor<2x2xf64>
  %logs = arith.constant dense<[[0.0, 1.0], [1.0986122886681098, 1.0]]> : tensor<2x2xf64>
  %c = linalg.softmax dimension(0) ins(%logs : tensor<2x2xf64>) outs(%e : tensor<2x2xf64>) -> tensor<2x2xf64>
  %turned = linalg.transpose ins(%logs : tensor<2x2xf64>) outs(%e : tensor<2x2xf64>) permutation = [1, 0]
  %r = linalg.softmax dimension(1) ins(%turned : tensor<2x2xf64>) outs(%e : tensor<2x2xf64>) -> tensor<2x2xf64>
  return %j, %c, %r : tensor<2x3xf64>, tensor<2x2xf64>, tensor<2x2xf64>
}

// CHECK-LABEL: @linalg
// CHECK-NEXT{LITERAL}: [[1, 4], [2, 5], [3, 6]]
// CHECK-NEXT: [7, 7]
// CHECK-NEXT{LITERAL}: [[0, 1], [10, 11]]
// CHECK-NEXT: [6, 15]
func.func @linalg() -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2x2xindex>, tensor<2xf32>) {
  %x = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %e = tensor.empty() : tensor<3x2xf32>
  %t = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0]
  %seven = arith.constant 7.0 : f32
  %zero = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<2xf32>
  %f = linalg.fill ins(%seven : f32) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
  %e3 = tensor.empty() : tensor<2x2xindex>
  %g = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e3 : tensor<2x2xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %ten = arith.constant 10 : index
    %s = arith.muli %i, %ten : index
    %r = arith.addi %s, %j : index
    linalg.yield %r : index
  } -> tensor<2x2xindex>
  %z = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
  %sums = linalg.reduce {arith.addf} ins(%x : tensor<2x3xf32>) outs(%z : tensor<2xf32>) dimensions = [1]
  return %t, %f, %g, %sums : tensor<3x2xf32>, tensor<2xf32>, tensor<2x2xindex>, tensor<2xf32>
}
