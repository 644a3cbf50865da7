// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --emit=obj
// The size of a buffer is that of another, in a kernel with vectors of its own.
!x = tensor<1x?x32xf32>
!h = tensor<1x4x?x8xf32>
func.func @one_batch_entry(%x: !x, %w: tensor<32x32xf32>) -> !x {
  %q = attn.split_heads %x into 4 : !x -> !h
  %a = attn.sdpa %q, %q, %q scale 0.35 : (!h, !h, !h) -> !h
  %j = attn.merge_heads %a : !h -> !x
  %j_new5 = attn.rms_norm %j eps 1.0e-6 : !x
  %p = attn.project %j_new5, %w : (!x, tensor<32x32xf32>) -> !x
  %out = arith.addf %p, %p : !x
  return %out : !x
}
