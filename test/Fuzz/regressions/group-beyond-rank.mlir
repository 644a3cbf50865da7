// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --compile-to=llvm
!x = tensor<?x32xf32>
!split = tensor<?x4x8xf32>
!h = tensor<4x?x8xf32>
func.func @heads_by_hand(%x: !x) -> !x {
  %S_axis = arith.constant 0 : index
  %S = tensor.dim %x, %S_axis : tensor<?x32xf32>
  %s = tensor.expand_shape %x [[0], [1, 2]] output_shape [%S, 4, 8] : !x into !split
  %e1 = tensor.empty(%S) : !h
  %q = linalg.transpose ins(%s : !split) outs(%e1 : !h) permutation = [1, 0, 2]
  %a = attn.sdpa %q, %q, %q scale 0.35 where causal(top_left) : (!h, !h, !h) -> !h
  %e2 = tensor.empty(%S) : !split
  %b = linalg.transpose ins(%a : !h) outs(%e2 : !split) permutation = [1, 0, 2]
  %out = tensor.collapse_shape %b [[0], [1, 9223372036854775810]] : !split into !x
  return %out : !x
}
