// RUN: attn-opt %s | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows, dimension of keys, dimension of values, and type of the statistics.
// CHECK: func private @f32(!attn.state<16 x 64 x 128, f32>)
func.func private @f32(!attn.state<16 x 64 x 128, f32>)

// CHECK: func private @f64() -> !attn.state<4 x 1 x 1, f64>
func.func private @f64() -> !attn.state<4 x 1 x 1, f64>

// CHECK: func private @decode(!attn.state<4 x 1 x 1, f32, decode>)
func.func private @decode(!attn.state<4 x 1 x 1, f32, decode>)

// Softmax is not printed.
// CHECK: func private @sigmoid(!attn.state<4 x 1 x 1, f32 by sigmoid>, !attn.state<4 x 1 x 1, f32>)
func.func private @sigmoid(!attn.state<4 x 1 x 1, f32 by sigmoid>, !attn.state<4 x 1 x 1, f32, prefill by softmax>)
