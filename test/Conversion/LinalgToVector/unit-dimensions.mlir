// Dimensions of size 1 that a view adds: loops over them, and values that one turn of them writes.
//
// RUN: attn-opt %s --verify=2 | FileCheck %s
// CHECK: added: s: largest error 0.0e+00
// CHECK: ones: s: largest error 0.0e+00

func.func @added(%x: tensor<10xi64>) -> tensor<4x1xi64> {
  %two = arith.constant dense<2> : tensor<4x1xi64>
  %p = tensor.empty() : tensor<4xi64>
  %a = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%p : tensor<4xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    linalg.yield %n : i64
  } -> tensor<4xi64>
  %e = tensor.expand_shape %a [[0, 1]] output_shape [4, 1] : tensor<4xi64> into tensor<4x1xi64>
  %s = arith.addi %e, %two : tensor<4x1xi64>
  return %s : tensor<4x1xi64>
}

func.func @ones(%x: tensor<5xi32>, %y: tensor<5xi32>) -> tensor<1x1x5xi32> {
  %d = arith.muli %x, %x : tensor<5xi32>
  %a = tensor.expand_shape %d [[0, 1, 2]] output_shape [1, 1, 5] : tensor<5xi32> into tensor<1x1x5xi32>
  %b = tensor.expand_shape %y [[0, 1, 2]] output_shape [1, 1, 5] : tensor<5xi32> into tensor<1x1x5xi32>
  %s = arith.addi %a, %b : tensor<1x1x5xi32>
  return %s : tensor<1x1x5xi32>
}
