// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heads are split and merged with the ops of tensor and linalg.
// sizes: S = 6 | S = 35
!x = tensor<$Sx32xf32>
!split = tensor<$Sx4x8xf32>
!h = tensor<4x$Sx8xf32>
func.func @heads_by_hand(%x: !x) -> !x {
  %s = tensor.expand_shape %x [[0], [1, 2]] output_shape [@S, 4, 8] : !x into !split
  %e1 = tensor.empty(@S) : !h
  %q = linalg.transpose ins(%s : !split) outs(%e1 : !h) permutation = [1, 0, 2]
  %a = attn.sdpa %q, %q, %q scale 0.35 where causal(top_left) : (!h, !h, !h) -> !h
  %e2 = tensor.empty(@S) : !split
  %b = linalg.transpose ins(%a : !h) outs(%e2 : !split) permutation = [1, 0, 2]
  %out = tensor.collapse_shape %b [[0], [1, 2]] : !split into !x
  return %out : !x
}
