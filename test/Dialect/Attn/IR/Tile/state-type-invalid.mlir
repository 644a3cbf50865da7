// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sizes of a state are numbers with blanks around the x.
// expected-error@+1 {{expected 'x'}}
func.func private @no_blanks(!attn.state<16x64x128, f32>)

// -----

// expected-error@+2 {{expected integer value}}
// expected-error@+1 {{failed to parse}}
func.func private @unknown_size(!attn.state<? x 64 x 128, f32>)

// -----

// expected-error@+1 {{expected ','}}
func.func private @no_element(!attn.state<16 x 64 x 128>)

// -----

// expected-error@+1 {{expects a state by sigmoid to have kind prefill}}
func.func private @sigmoid_decode(!attn.state<16 x 64 x 128, f32, decode by sigmoid>)
