// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.grad_step rejects; the numbers are those of docs/SpecTiles.md.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @grad_step_c1_d_key(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %q: memref<?x4xf32>, %d: memref<?x8xf32>, %dk: memref<?x6xf32>, %dv: memref<?x8xf32>, %i: index) {
  // expected-error@+1 {{expects the gradient by keys to be a matrix of 4 columns}}
  attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge of %q, %d outs(%dk, %dv : memref<?x6xf32>, memref<?x8xf32>) {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @grad_step_c2_other_mask(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %d: memref<?x8xf32>, %i: index, %m: memref<?xf32>) {
  // expected-error@+1 {{expects}}
  attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i where %m : memref<?xf32> mode edge of %k, %d outs(%k, %v : memref<?x4xf32>, memref<?x8xf32>) {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @grad_step_c3_bias(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %q: memref<?x4xf32>, %d: memref<?x8xf32>, %dk: memref<?x4xf32>, %dv: memref<?x8xf32>, %i: index, %b: memref<?x?x?xf32>) {
  // expected-error@+1 {{expects the bias to have at most rank 2}}
  attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i bias %b : memref<?x?x?xf32> mode edge of %q, %d outs(%dk, %dv : memref<?x4xf32>, memref<?x8xf32>) {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @grad_step_c4_f64(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %q: memref<?x4xf32>, %d: memref<?x8xf32>, %dk: memref<?x4xf32>, %dv: memref<?x8xf64>, %i: index) {
  // expected-error@+1 {{expects gradients by keys and values of the state's type 'f32', but got 'memref<?x8xf64>'}}
  attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge of %q, %d outs(%dk, %dv : memref<?x4xf32>, memref<?x8xf64>) {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @grad_step_c5_decode(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %q: memref<?x4xf32>, %d: memref<?x8xf32>, %dk: memref<?x4xf32>, %dv: memref<?x8xf32>, %i: index) {
  // expected-error@+1 {{expects a schedule of kind prefill}}
  attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge of %q, %d outs(%dk, %dv : memref<?x4xf32>, memref<?x8xf32>) {schedule = #d} : !attn.grad_state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func @grad_step_c6_no_result(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %q: memref<?x4xf32>, %d: memref<?x8xf32>, %dk: tensor<?x4xf32>, %dv: tensor<?x8xf32>, %i: index) {
  // expected-error@+1 {{expected the number of tensor results (0) to be equal to the number of output tensors (2)}}
  attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode edge of %q, %d outs(%dk, %dv : tensor<?x4xf32>, tensor<?x8xf32>) {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @grad_step_c7_no_derivative(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %q: memref<?x4xf32>, %d: memref<?x8xf32>, %dk: memref<?x4xf32>, %dv: memref<?x8xf32>, %i: index, %table: memref<?xf32>) {
  // expected-error@+1 {{expects a score function that ends with attn.yield of a value of 'f32' and its derivatives, but got}}
  attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i score_mod (%x: f32, %b, %h, %r, %c) of %i, %i with (%t = %table : memref<?xf32>) {
    %one = arith.constant 1.0 : f32
    %e = memref.load %t[%c] : memref<?xf32>
    %y = arith.mulf %x, %e : f32
    attn.yield %y : f32
  } mode edge of %q, %d outs(%dk, %dv : memref<?x4xf32>, memref<?x8xf32>)  {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @grad_step_c7_too_few(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %q: memref<?x4xf32>, %d: memref<?x8xf32>, %dk: memref<?x4xf32>, %dv: memref<?x8xf32>, %i: index, %table: memref<?xf32>, %sum: memref<?xf32>) {
  // expected-error@+1 {{expects a score function that ends with attn.yield of a value of 'f32' and its derivatives, but got}}
  attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i score_mod (%x: f32, %b, %h, %r, %c) of %i, %i with (%t = %table : memref<?xf32>) {
    %one = arith.constant 1.0 : f32
    %e = memref.load %t[%c] : memref<?xf32>
    %y = arith.mulf %x, %e : f32
    attn.yield %y, %e : f32, f32
  } mode edge of %q, %d outs(%dk, %dv : memref<?x4xf32>, memref<?x8xf32>) sums(%sum : memref<?xf32>) by ["capture_0"] scale 0.5 {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @grad_step_c8_no_scale(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %q: memref<?x4xf32>, %d: memref<?x8xf32>, %dk: memref<?x4xf32>, %dv: memref<?x8xf32>, %i: index, %b: memref<?x?xf32>) {
  // expected-error@+1 {{expects a name per sum, and a scale where there are any, or cotangents of weights}}
  attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i bias %b : memref<?x?xf32> mode edge of %q, %d outs(%dk, %dv : memref<?x4xf32>, memref<?x8xf32>)  {by = ["bias"], schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @grad_step_c8_no_bias(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %q: memref<?x4xf32>, %d: memref<?x8xf32>, %dk: memref<?x4xf32>, %dv: memref<?x8xf32>, %i: index, %b: memref<?x?xf32>) {
  // expected-error@+1 {{expects sums by the bias, of rank 2, and by captured tensors, of their rank, with elements of 'f32', but got 'bias' of 'memref<?x?xf32>'}}
  attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i  mode edge of %q, %d outs(%dk, %dv : memref<?x4xf32>, memref<?x8xf32>) sums(%b : memref<?x?xf32>) by ["bias"] scale 0.5 {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @grad_step_c8_rank(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %q: memref<?x4xf32>, %d: memref<?x8xf32>, %dk: memref<?x4xf32>, %dv: memref<?x8xf32>, %i: index, %b: memref<?x?xf32>, %sum: memref<?xf32>) {
  // expected-error@+1 {{but got 'bias' of 'memref<?xf32>'}}
  attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i bias %b : memref<?x?xf32> mode edge of %q, %d outs(%dk, %dv : memref<?x4xf32>, memref<?x8xf32>) sums(%sum : memref<?xf32>) by ["bias"] scale 0.5 {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @grad_step_c8_element(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %q: memref<?x4xf32>, %d: memref<?x8xf32>, %dk: memref<?x4xf32>, %dv: memref<?x8xf32>, %i: index, %b: memref<?x?xf32>, %sum: memref<?x?xf64>) {
  // expected-error@+1 {{but got 'bias' of 'memref<?x?xf64>'}}
  attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i bias %b : memref<?x?xf32> mode edge of %q, %d outs(%dk, %dv : memref<?x4xf32>, memref<?x8xf32>) sums(%sum : memref<?x?xf64>) by ["bias"] scale 0.5 {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @grad_step_c8_number(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %q: memref<?x4xf32>, %d: memref<?x8xf32>, %dk: memref<?x4xf32>, %dv: memref<?x8xf32>, %i: index, %table: memref<?xf32>, %sum: memref<?xf32>) {
  // expected-error@+1 {{but got 'capture_1'}}
  attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i score_mod (%x: f32, %b, %h, %r, %c) of %i, %i with (%t = %table : memref<?xf32>) {
    %one = arith.constant 1.0 : f32
    %e = memref.load %t[%c] : memref<?xf32>
    %y = arith.mulf %x, %e : f32
    attn.yield %y, %e : f32, f32
  } mode edge of %q, %d outs(%dk, %dv : memref<?x4xf32>, memref<?x8xf32>) sums(%sum : memref<?xf32>) by ["capture_1"] scale 0.5 {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @grad_step_c10_row_of_weights(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %q: memref<?x4xf32>, %d: memref<?x8xf32>, %dk: memref<?x4xf32>, %dv: memref<?x8xf32>, %i: index, %w: memref<?xf32>) {
  // expected-error@+1 {{expects cotangents of weights to be a matrix of 'f32', but got 'memref<?xf32>'}}
  attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode full of %q, %d weights %w : memref<?xf32> outs(%dk, %dv : memref<?x4xf32>, memref<?x8xf32>) scale 0.5 {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x8xf32>
  return
}

// -----

#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

func.func @grad_step_c9_seed(%s: !attn.grad_state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %q: memref<?x4xf32>, %d: memref<?x8xf32>, %dk: memref<?x4xf32>, %dv: memref<?x8xf32>, %i: index, %x: i32) {
  // expected-error@+1 {{expects a dropout of a seed of type i64, a batch entry and a head of type index}}
  attn.grad_step %s, %k, %v rows %i to %i keys from %i lengths %i, %i dropout 5.000000e-01 of %x, %i, %i : i32, index, index mode full of %q, %d outs(%dk, %dv : memref<?x4xf32>, memref<?x8xf32>) {schedule = #s} : !attn.grad_state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>, memref<?x4xf32>, memref<?x8xf32>
  return
}
