// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops, attributes and types survive bytecode.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK: attn.sdpa %{{.*}} scale 1.250000e-01 where causal(bottom_right) and key_length(%{{.*}} : tensor<?xi32>) returning(out, lse) {query_layout = #attn<layout bshd>, schedule = #attn.cpu_schedule<lanes = 4,
func.func @sdpa(%q: tensor<?x?x8x64xf16>, %k: tensor<?x2x?x64xf16>, %n: tensor<?xi32>) -> (tensor<?x8x?x64xf16>, tensor<?x8x?xf32>) {
  %o, %l = attn.sdpa %q, %k, %k scale 0.125 where causal(bottom_right) and key_length(%n : tensor<?xi32>) returning(out, lse)
      {query_layout = #attn<layout bshd>, schedule = #s}
      : (tensor<?x?x8x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>) -> (tensor<?x8x?x64xf16>, tensor<?x8x?xf32>)
  return %o, %l : tensor<?x8x?x64xf16>, tensor<?x8x?xf32>
}

// CHECK: attn.init_state %{{.*}} scale 5.000000e-01 {{.*}} -> <16 x 4 x 8, f32>
func.func @state(%q: memref<?x4xf32>) -> !attn.state<16 x 4 x 8, f32> {
  %s = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> !attn.state<16 x 4 x 8, f32>
  return %s : !attn.state<16 x 4 x 8, f32>
}
