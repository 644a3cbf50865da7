// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One batch entry: a layer whose heads are split and merged.
// sizes: S = 6 | S = 45
// w: times 0.2
!x = tensor<1x$Sx32xf32>
!h = tensor<1x4x$Sx8xf32>
func.func @one_batch_entry(%x: !x, %w: tensor<32x32xf32>) -> !x {
  %q = attn.split_heads %x into 4 : !x -> !h
  %a = attn.sdpa %q, %q, %q scale 0.35 : (!h, !h, !h) -> !h
  %j = attn.merge_heads %a : !h -> !x
  %p = attn.project %j, %w : (!x, tensor<32x32xf32>) -> !x
  %out = arith.addf %p, %x : !x
  return %out : !x
}
