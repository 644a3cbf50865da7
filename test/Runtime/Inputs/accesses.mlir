// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
func.func @insert(%new: tensor<?x4xf32>, %cache: tensor<?x4xf32>, %q: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %q, %c0 : tensor<?x4xf32>
  %r = tensor.insert_slice %new into %cache[0, 0] [%n, 4] [1, 1] : tensor<?x4xf32> into tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
func.func @pad(%x: tensor<?x4xf32>) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %z = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x4xf32>
  %k = arith.subi %c8, %m : index
  %a = tensor.pad %x low[0, 0] high[%k, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<?x4xf32> to tensor<8x4xf32>
  return %a : tensor<8x4xf32>
}
func.func @next(%x: tensor<?xf32>, %like: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %like, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i + 1)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @element(%x: tensor<?x4xf32>, %q: tensor<?x4xf32>) -> tensor<1xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %q, %c0 : tensor<?x4xf32>
  %v = tensor.extract %x[%n, %c0] : tensor<?x4xf32>
  %r = tensor.from_elements %v : tensor<1xf32>
  return %r : tensor<1xf32>
}
