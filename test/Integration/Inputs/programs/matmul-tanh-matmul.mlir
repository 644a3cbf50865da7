// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two products with tanh between them.
// sizes: S = 6 | S = 41 | S = 1
// w1: times 0.2
// w2: times 0.2
!x = tensor<$Sx12xf32>
!h = tensor<$Sx20xf32>
func.func @matmul_tanh_matmul(%x: !x, %w1: tensor<12x20xf32>, %w2: tensor<20x12xf32>) -> !x {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty(@S) : !h
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : !h) -> !h
  %h = linalg.matmul ins(%x, %w1 : !x, tensor<12x20xf32>) outs(%z1 : !h) -> !h
  %t = math.tanh %h : !h
  %e2 = tensor.empty(@S) : !x
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : !x) -> !x
  %out = linalg.matmul ins(%t, %w2 : !h, tensor<20x12xf32>) outs(%z2 : !x) -> !x
  return %out : !x
}
