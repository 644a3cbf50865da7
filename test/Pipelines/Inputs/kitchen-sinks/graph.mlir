// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every textbook op that an attention by softmax has, with every operand and attribute, and every mask term.
// attn.project: {%x, %wq, %bq : (tensor<2x?x24xf32>, tensor<24x32xf32>, tensor<32xf32>)} -> {%x, %wq : (tensor<2x?x24xf32>, tensor<24x32xf32>)}
// attn.rope: {attn.rope %q0, %cos, %sin interleaved at} -> {attn.rope %q0, %cos, %sin at}
// attn.rope: {interleaved at %at : tensor<2x?xi32> :} -> {interleaved :}
// attn.rms_norm: {%k, %norm eps 0.1 : tensor<2x2x?x8xf32>, tensor<8xf32>} -> {%k eps 0.1 : tensor<2x2x?x8xf32>}
// attn.rms_norm: {eps 0.1} -> {eps 0.2}
// attn.layer_norm: {%y0, %lw, %lb eps 0.3 : tensor<2x?x10xf32>, tensor<10xf32>, tensor<10xf32>} -> {%y0, %lw eps 0.3 : tensor<2x?x10xf32>, tensor<10xf32>}
// attn.layer_norm: {%lb eps 0.3} -> {%lb eps 9.0}
// attn.scale: {attn.scale %s0 by 0.5} -> {attn.scale %s0 by 0.25}
// attn.softcap: {attn.softcap %s1 at 2.0} -> {attn.scale %s1 by 1.0}
// attn.score_mod: {%y = arith.mulf %s, %f : f32} -> {%y = arith.addf %s, %f : f32}
// attn.score_mod: {arith.addf %y, %e} -> {arith.addf %y, %y}
// attn.alibi: {attn.alibi %s3, %slopes aligned offset by %start : tensor<2xi32> : tensor<2x4x?x?xf32>, tensor<4xf32>} -> {attn.scale %s3 by 1.0 : tensor<2x4x?x?xf32>}
// attn.bias: {attn.bias %s4, %bias : tensor<2x4x?x?xf32>, tensor<4x1x?xf32>} -> {attn.scale %s4 by 1.0 : tensor<2x4x?x?xf32>}
// attn.mask_fn: {arith.cmpi ne, %d, %l} -> {arith.cmpi ne, %i, %l}
// predicate: {arith.cmpi ne, %d, %l} -> {arith.cmpi ne, %d, %j}
// attn.softmax: {attn.softmax %s8 sinks %sinks : tensor<4xf32>} -> {attn.softmax %s8}
// attn.softmax: {%p = attn.softmax %s8 sinks %sinks : tensor<4xf32>} -> {%p = attn.sigmoid %s8}
// attn.mask: {attn.mask %s6 where sink(1) or} -> {attn.mask %s6 where not sink(1) or}
// key_length: {key_length(%length : tensor<2xi32>) and (causal} -> {(causal}
// causal: {causal(offset = %offset : tensor<2xi32>) or} -> {}
// window: {window(left = %left : tensor<2xi32>, right = 2, bottom_right) or} -> {}
// tree: {not tree(3, %tree : tensor<3xi32>)} -> {sink(1)}
// prefix: {prefix(%left : tensor<2xi32>) or} -> {}
// chunked: {not chunked(5, offset = 1)} -> {sink(1)}
// sink: {or sink(9) and dilated(3)} -> {or dilated(3)}
// dilated: {or sink(9) and dilated(3)} -> {}
// document: {(document(%from : tensor<2x?xi32>, %to : tensor<2x?xi32>) or not dilated(3)) and} -> {}
// document: {or document(cumulative %starts : tensor<?xi64>)} -> {}
// block: {block(7, 9, bits = [[1, 0], [1, 1]]) or} -> {}
// block: {or block(2, 2, %bits : tensor<4x?x?xi1>)} -> {}
// and: {tensor<2xi32>) and (causal} -> {tensor<2xi32>) or (causal}
// or: {%ok : tensor<2x1x?x?xi1> or} -> {%ok : tensor<2x1x?x?xi1> and}
// not: {or not dilated(3)} -> {or dilated(3)}
func.func @kernel(%x: tensor<2x?x24xf32>, %wq: tensor<24x32xf32>, %bq: tensor<32xf32>, %k: tensor<2x2x?x8xf32>, %v: tensor<2x2x?x6xf32>,
    %cos: tensor<?x3xf32>, %sin: tensor<?x3xf32>, %at: tensor<2x?xi32>, %norm: tensor<8xf32>, %slopes: tensor<4xf32>, %start: tensor<2xi32>,
    %bias: tensor<4x1x?xf32>, %table: tensor<4x?xf32>, %gain: tensor<f32>, %length: tensor<2xi32>, %offset: tensor<2xi32>, %left: tensor<2xi32>,
    %from: tensor<2x?xi32>, %to: tensor<2x?xi32>, %starts: tensor<?xi64>, %bits: tensor<4x?x?xi1>, %tree: tensor<3xi32>, %ok: tensor<2x1x?x?xi1>,
    %width: tensor<4xi32>, %sinks: tensor<4xf32>, %wo: tensor<24x10xf32>, %lw: tensor<10xf32>, %lb: tensor<10xf32>) -> (tensor<2x?x10xf32>, tensor<2x4x?x?xf32>) {
  %x1 = attn.project %x, %wq, %bq : (tensor<2x?x24xf32>, tensor<24x32xf32>, tensor<32xf32>) -> tensor<2x?x32xf32>
  %q0 = attn.split_heads %x1 into 4 : tensor<2x?x32xf32> -> tensor<2x4x?x8xf32>
  %q1 = attn.rope %q0, %cos, %sin interleaved at %at : tensor<2x?xi32> : tensor<2x4x?x8xf32>, tensor<?x3xf32>
  %k1 = attn.rms_norm %k, %norm eps 0.1 : tensor<2x2x?x8xf32>, tensor<8xf32>
  %s0 = attn.scores %q1, %k1 : (tensor<2x4x?x8xf32>, tensor<2x2x?x8xf32>) -> tensor<2x4x?x?xf32>
  %s1 = attn.scale %s0 by 0.5 : tensor<2x4x?x?xf32>
  %s2 = attn.softcap %s1 at 2.0 : tensor<2x4x?x?xf32>
  %s3 = attn.score_mod %s2 (%s: f32, %b, %h, %i, %j) with (%t = %table : tensor<4x?xf32>, %g = %gain : tensor<f32>) {
    %d = arith.subi %i, %j : index
    %e = tensor.extract %t[%h, %d] : tensor<4x?xf32>
    %f = tensor.extract %g[] : tensor<f32>
    %y = arith.mulf %s, %f : f32
    %z = arith.addf %y, %e : f32
    attn.yield %z : f32
  } : tensor<2x4x?x?xf32>
  %s4 = attn.alibi %s3, %slopes aligned offset by %start : tensor<2xi32> : tensor<2x4x?x?xf32>, tensor<4xf32>
  %s5 = attn.bias %s4, %bias : tensor<2x4x?x?xf32>, tensor<4x1x?xf32>
  %s6 = attn.mask %s5 where key_length(%length : tensor<2xi32>) and (causal(offset = %offset : tensor<2xi32>) or window(left = %left : tensor<2xi32>, right = 2, bottom_right) or not tree(3, %tree : tensor<3xi32>)) and (prefix(%left : tensor<2xi32>) or not chunked(5, offset = 1) or sink(9) and dilated(3)) : tensor<2x4x?x?xf32>
  %s7 = attn.mask %s6 where sink(1) or (document(%from : tensor<2x?xi32>, %to : tensor<2x?xi32>) or not dilated(3)) and (block(7, 9, bits = [[1, 0], [1, 1]]) or block(2, 2, %bits : tensor<4x?x?xi1>)) and (%ok : tensor<2x1x?x?xi1> or document(cumulative %starts : tensor<?xi64>)) : tensor<2x4x?x?xf32>
  %s8 = attn.mask_fn %s7 (%b, %h, %i, %j) with (%w = %width : tensor<4xi32>) {
    %n = tensor.extract %w[%h] : tensor<4xi32>
    %l = arith.index_cast %n : i32 to index
    %d = arith.subi %i, %j : index
    %r = arith.cmpi ne, %d, %l : index
    attn.yield %r : i1
  } : tensor<2x4x?x?xf32>
  %p = attn.softmax %s8 sinks %sinks : tensor<4xf32> : tensor<2x4x?x?xf32>
  %o = attn.context %p, %v : (tensor<2x4x?x?xf32>, tensor<2x2x?x6xf32>) -> tensor<2x4x?x6xf32>
  %o1 = attn.merge_heads %o : tensor<2x4x?x6xf32> -> tensor<2x?x24xf32>
  %y0 = attn.project %o1, %wo : (tensor<2x?x24xf32>, tensor<24x10xf32>) -> tensor<2x?x10xf32>
  %y = attn.layer_norm %y0, %lw, %lb eps 0.3 : tensor<2x?x10xf32>, tensor<10xf32>, tensor<10xf32>
  return %y, %p : tensor<2x?x10xf32>, tensor<2x4x?x?xf32>
}
