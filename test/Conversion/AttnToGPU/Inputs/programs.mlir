// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attentions among other steps, of one program: launches in order, and buffers of the device between them.

func.func @residual(%x: tensor<?x2x?x32xbf16>) -> tensor<?x2x?x32xbf16> {
  %a = attn.sdpa %x, %x, %x scale 0.176 where causal(top_left) : (tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16>) -> tensor<?x2x?x32xbf16>
  %0 = arith.addf %a, %x : tensor<?x2x?x32xbf16>
  return %0 : tensor<?x2x?x32xbf16>
}

func.func @chained(%x: tensor<1x1x?x64xf16>) -> (tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>) {
  %a = attn.sdpa %x, %x, %x scale 0.125 : (tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>) -> tensor<1x1x?x64xf16>
  %b = attn.sdpa %a, %x, %a scale 0.125 : (tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>) -> tensor<1x1x?x64xf16>
  return %b, %a : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>
}

func.func @differential(%q: tensor<1x2x?x24xf16>, %k: tensor<1x2x?x24xf16>, %v: tensor<1x2x?x40xf16>, %lambda: tensor<2xf32>) -> tensor<1x2x?x40xf16> {
  %0 = attn.sdpa %q, %k, %v minus %k, %k by %lambda : tensor<2xf32> scale 0.2 where causal(bottom_right) : (tensor<1x2x?x24xf16>, tensor<1x2x?x24xf16>, tensor<1x2x?x40xf16>) -> tensor<1x2x?x40xf16>
  return %0 : tensor<1x2x?x40xf16>
}

func.func @merged(%q: tensor<1x2x?x16xf32>, %k: tensor<1x2x9x16xf32>) -> (tensor<1x2x?x16xf32>, tensor<1x2x?xf32>) {
  %o1, %m1, %l1, %a1 = attn.sdpa %q, %q, %q scale 0.25 where causal(top_left) returning(out, state)
      : (tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>) -> (tensor<1x2x?x16xf32>, tensor<1x2x?xf32>, tensor<1x2x?xf32>, tensor<1x2x?x16xf32>)
  %o2, %m2, %l2, %a2 = attn.sdpa %q, %k, %k scale 0.25 returning(out, state)
      : (tensor<1x2x?x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) -> (tensor<1x2x?x16xf32>, tensor<1x2x?xf32>, tensor<1x2x?xf32>, tensor<1x2x?x16xf32>)
  %m, %l, %a = attn.merge_states %m1, %l1, %a1 with %m2, %l2, %a2 : tensor<1x2x?xf32>, tensor<1x2x?x16xf32>
  %out, %lse = attn.finalize_state %m, %l, %a : (tensor<1x2x?xf32>, tensor<1x2x?xf32>, tensor<1x2x?x16xf32>) -> (tensor<1x2x?x16xf32>, tensor<1x2x?xf32>)
  return %out, %lse : tensor<1x2x?x16xf32>, tensor<1x2x?xf32>
}

// Weights of the first part.
func.func @wideWeights(%q: tensor<?x16xf16>, %v: tensor<?x300xf16>) -> (tensor<?x300xf16>, tensor<?x?xf32>) {
  %out, %w = attn.sdpa %q, %q, %v scale 0.25 returning(out, weights) : (tensor<?x16xf16>, tensor<?x16xf16>, tensor<?x300xf16>) -> (tensor<?x300xf16>, tensor<?x?xf32>)
  return %out, %w : tensor<?x300xf16>, tensor<?x?xf32>
}

// Values of 300 features in two parts.
func.func @wide(%q: tensor<?x1x?x8xbf16>, %v: tensor<?x1x?x300xbf16>) -> tensor<?x1x?x300xbf16> {
  %0 = attn.sdpa %q, %q, %v scale 0.3 where causal(top_left) : (tensor<?x1x?x8xbf16>, tensor<?x1x?x8xbf16>, tensor<?x1x?x300xbf16>) -> tensor<?x1x?x300xbf16>
  return %0 : tensor<?x1x?x300xbf16>
}

// A layer: norm, products, heads, attention, residual.
func.func @layer(%x: tensor<1x?x32xf32>, %g: tensor<32xf32>, %wq: tensor<32x32xf32>, %wk: tensor<32x16xf32>, %wo: tensor<32x32xf32>, %bo: tensor<32xf32>) -> tensor<1x?x32xf32> {
  %n = attn.rms_norm %x, %g eps 1.0e-5 : tensor<1x?x32xf32>, tensor<32xf32>
  %xq = attn.project %n, %wq : (tensor<1x?x32xf32>, tensor<32x32xf32>) -> tensor<1x?x32xf32>
  %xk = attn.project %n, %wk : (tensor<1x?x32xf32>, tensor<32x16xf32>) -> tensor<1x?x16xf32>
  %q = attn.split_heads %xq into 4 : tensor<1x?x32xf32> -> tensor<1x4x?x8xf32>
  %k = attn.split_heads %xk into 2 : tensor<1x?x16xf32> -> tensor<1x2x?x8xf32>
  %a = attn.sdpa %q, %k, %k scale 0.05 where causal(top_left) : (tensor<1x4x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) -> tensor<1x4x?x8xf32>
  %m = attn.merge_heads %a : tensor<1x4x?x8xf32> -> tensor<1x?x32xf32>
  %o = attn.project %m, %wo, %bo : (tensor<1x?x32xf32>, tensor<32x32xf32>, tensor<32xf32>) -> tensor<1x?x32xf32>
  %0 = arith.addf %x, %o : tensor<1x?x32xf32>
  return %0 : tensor<1x?x32xf32>
}

// One item: what is read for it stands beside its ops, without a loop.
func.func @one_item(%q: tensor<1x1x1x16xf16>, %k: tensor<1x1x?x16xf16>, %v: tensor<1x1x?x16xf16>, %sinks: tensor<1xf32>, %n: tensor<1xi32>) -> (tensor<1x1x1x16xf16>, tensor<1x1x1xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.2 where key_length(%n : tensor<1xi32>) sinks %sinks : tensor<1xf32> returning(out, lse) : (tensor<1x1x1x16xf16>, tensor<1x1x?x16xf16>, tensor<1x1x?x16xf16>) -> (tensor<1x1x1x16xf16>, tensor<1x1x1xf32>)
  return %out, %lse : tensor<1x1x1x16xf16>, tensor<1x1x1xf32>
}

// The same with loops over documents, and with a number that two attentions, or two maps of one, read.
func.func @documents(%x: tensor<9x16xf32>, %d: tensor<9xi32>) -> tensor<9x16xf32> {
  %a = attn.sdpa %x, %x, %x scale 0.1 where document(%d : tensor<9xi32>) : (tensor<9x16xf32>, tensor<9x16xf32>, tensor<9x16xf32>) -> tensor<9x16xf32>
  %b = attn.sdpa %a, %x, %a scale 0.1 where document(%d : tensor<9xi32>) and causal(top_left) : (tensor<9x16xf32>, tensor<9x16xf32>, tensor<9x16xf32>) -> tensor<9x16xf32>
  return %b : tensor<9x16xf32>
}

func.func @shared_reads(%q: tensor<1x1x7x8xf16>, %k: tensor<1x1x9x8xf16>, %lambda: tensor<1xf32>, %n: tensor<1xi32>) -> (tensor<1x1x7x8xf16>, tensor<1x1x7x8xf16>) {
  %a = attn.sdpa %q, %k, %k minus %q, %k by %lambda : tensor<1xf32> scale 0.3 where key_length(%n : tensor<1xi32>) : (tensor<1x1x7x8xf16>, tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16>) -> tensor<1x1x7x8xf16>
  %b = attn.sdpa %q, %k, %k scale 0.5 where key_length(%n : tensor<1xi32>) : (tensor<1x1x7x8xf16>, tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16>) -> tensor<1x1x7x8xf16>
  return %a, %b : tensor<1x1x7x8xf16>, tensor<1x1x7x8xf16>
}
