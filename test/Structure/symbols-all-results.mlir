// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Logarithm, weights, boolean mask, bias, projection: still nothing but the runtime.
// RUN: attn-opt %s --emit=obj --target=x86-64 -o %t.sse.o
// RUN: attn-opt %s --emit=obj --target=x86-64-v3 -o %t.avx2.o
// RUN: attn-opt %s --emit=obj --target=aarch64 -o %t.neon.o
// RUN: llvm-nm --undefined-only --just-symbol-name %t.sse.o | sort | FileCheck %s
// RUN: llvm-nm --undefined-only --just-symbol-name %t.avx2.o | sort | FileCheck %s
// RUN: llvm-nm --undefined-only --just-symbol-name %t.neon.o | sort | FileCheck %s
// CHECK-NOT:  {{.}}
// CHECK:      attn_rt_give_workspace
// CHECK-NEXT: attn_rt_max_threads
// CHECK-NEXT: attn_rt_parallel_for
// CHECK-NEXT: attn_rt_take_workspace
// CHECK-NOT:  {{.}}
func.func @all(%x: tensor<?x?x8x16xf32>, %k: tensor<?x2x?x16xf32>, %b: tensor<8x?x?xf32>, %m: tensor<?x1x?x?xi1>, %n: tensor<?xi32>)
    -> (tensor<?x8x?x16xf32>, tensor<?x8x?xf32>, tensor<?x8x?x?xf32>, tensor<?x8x?x?xf32>) {
  %r:4 = attn.sdpa %x, %k, %k bias %b : tensor<8x?x?xf32> scale 0.25 where key_length(%n : tensor<?xi32>) and %m : tensor<?x1x?x?xi1>
      returning(out, lse, weights, scores) {query_layout = #attn<layout bshd>, scores_stage = #attn<scores_stage masked>}
      : (tensor<?x?x8x16xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>) -> (tensor<?x8x?x16xf32>, tensor<?x8x?xf32>, tensor<?x8x?x?xf32>, tensor<?x8x?x?xf32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<?x8x?x16xf32>, tensor<?x8x?xf32>, tensor<?x8x?x?xf32>, tensor<?x8x?x?xf32>
}
