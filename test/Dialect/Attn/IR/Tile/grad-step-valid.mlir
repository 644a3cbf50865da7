// RUN: attn-opt %s -verify-diagnostics
// RUN: attn-opt %s | attn-opt -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.grad_step accepts; the numbers are those of docs/SpecTiles.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @grad_step_c1_matrices(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %q: memref<?x4xf32>, %d: memref<?x8xf32>, %dk: memref<?x4xf32>, %dv: memref<?x8xf32>, %i: index) {
  attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge of %q, %d outs(%dk, %dv : memref<?x4xf32>, memref<?x8xf32>) {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

func.func @grad_step_c2_mask(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %q: memref<?x4xf32>, %d: memref<?x8xf32>, %dk: memref<?x4xf32>, %dv: memref<?x8xf32>, %i: index) {
  attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i where causal(top_left) mode edge of %q, %d outs(%dk, %dv : memref<?x4xf32>, memref<?x8xf32>) {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

func.func @grad_step_c3_bias(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %q: memref<?x4xf32>, %d: memref<?x8xf32>, %dk: memref<?x4xf32>, %dv: memref<?x8xf32>, %i: index, %b: memref<?x?xf32>) {
  attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i bias %b : memref<?x?xf32> mode edge of %q, %d outs(%dk, %dv : memref<?x4xf32>, memref<?x8xf32>) {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

func.func @grad_step_c4_f32(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %q: memref<?x4xf32>, %d: memref<?x8xf32>, %dk: memref<?x4xf32>, %dv: memref<?x8xf32>, %i: index) {
  attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge of %q, %d outs(%dk, %dv : memref<?x4xf32>, memref<?x8xf32>) {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

func.func @grad_step_c5_prefill(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %q: memref<?x4xf32>, %d: memref<?x8xf32>, %dk: memref<?x4xf32>, %dv: memref<?x8xf32>, %i: index) {
  attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge of %q, %d outs(%dk, %dv : memref<?x4xf32>, memref<?x8xf32>) {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

func.func @grad_step_c6_results(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: tensor<?x4xf32>, %v: tensor<?x8xf32>, %q: tensor<?x4xf32>, %d: tensor<?x8xf32>, %dk: tensor<?x4xf32>, %dv: tensor<?x8xf32>, %i: index) {
  %r:2 = attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge of %q, %d outs(%dk, %dv : tensor<?x4xf32>, tensor<?x8xf32>) {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>, tensor<?x4xf32>, tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x8xf32> -> tensor<?x4xf32>, tensor<?x8xf32>
  return
}

func.func @grad_step_c7_derivatives(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %q: memref<?x4xf32>, %d: memref<?x8xf32>, %dk: memref<?x4xf32>, %dv: memref<?x8xf32>, %i: index, %table: memref<?xf32>, %sum: memref<?xf32>) {
  attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i score_mod (%x: f32, %b, %h, %r, %c) of %i, %i with (%t = %table : memref<?xf32>) {
    %one = arith.constant 1.0 : f32
    %e = memref.load %t[%c] : memref<?xf32>
    %y = arith.mulf %x, %e : f32
    attn.yield %y, %e, %x : f32, f32, f32
  } mode edge of %q, %d outs(%dk, %dv : memref<?x4xf32>, memref<?x8xf32>) sums(%sum : memref<?xf32>) by ["capture_0"] scale 0.5 {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

func.func @grad_step_c7_not_learned(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %q: memref<?x4xf32>, %d: memref<?x8xf32>, %dk: memref<?x4xf32>, %dv: memref<?x8xf32>, %i: index, %table: memref<?xf32>) {
  attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i score_mod (%x: f32, %b, %h, %r, %c) of %i, %i with (%t = %table : memref<?xf32>) {
    %one = arith.constant 1.0 : f32
    %e = memref.load %t[%c] : memref<?xf32>
    %y = arith.mulf %x, %e : f32
    attn.yield %y, %e : f32, f32
  } mode edge of %q, %d outs(%dk, %dv : memref<?x4xf32>, memref<?x8xf32>) {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

func.func @grad_step_c8_bias(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %q: memref<?x4xf32>, %d: memref<?x8xf32>, %dk: memref<?x4xf32>, %dv: memref<?x8xf32>, %i: index, %b: memref<?x?xf32>, %sum: memref<?x1xf32>) {
  attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i bias %b : memref<?x?xf32> mode edge of %q, %d outs(%dk, %dv : memref<?x4xf32>, memref<?x8xf32>) sums(%sum : memref<?x1xf32>) by ["bias"] scale 0.5 {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

func.func @grad_step_c9_dropout(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %q: memref<?x4xf32>, %d: memref<?x8xf32>, %dk: memref<?x4xf32>, %dv: memref<?x8xf32>, %i: index, %x: i64) {
  attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i dropout 5.000000e-01 of %x, %i, %i : i64, index, index mode full of %q, %d outs(%dk, %dv : memref<?x4xf32>, memref<?x8xf32>) {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

func.func @grad_step_c10_weights(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %q: memref<?x4xf32>, %d: memref<?x8xf32>, %dk: memref<?x4xf32>, %dv: memref<?x8xf32>, %i: index, %w: memref<?x?xf32>) {
  attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode full of %q, %d weights %w : memref<?x?xf32> outs(%dk, %dv : memref<?x4xf32>, memref<?x8xf32>) scale 0.5 {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x8xf32>
  return
}
