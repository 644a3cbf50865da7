// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Merged states and their results are written into the caller's memory; only what lies between two ops has a buffer.
// RUN: attn-opt %s --compile-from=input --compile-to=buffers --split-keys=0 | FileCheck %s --implicit-check-not=memref.copy

// CHECK-LABEL: func.func private @merge.kernel(
// CHECK-NOT: memref.alloc
// CHECK: attn.merge_rows
// CHECK: return
func.func @merge(%m1: tensor<?x8x?xf32>, %l1: tensor<?x8x?xf32>, %a1: tensor<?x8x?x64xf32>, %m2: tensor<?x8x?xf32>, %l2: tensor<?x8x?xf32>, %a2: tensor<?x8x?x64xf32>)
    -> (tensor<?x8x?xf32>, tensor<?x8x?xf32>, tensor<?x8x?x64xf32>) {
  %m, %l, %a = attn.merge_states %m1, %l1, %a1 with %m2, %l2, %a2 : tensor<?x8x?xf32>, tensor<?x8x?x64xf32>
  return %m, %l, %a : tensor<?x8x?xf32>, tensor<?x8x?xf32>, tensor<?x8x?x64xf32>
}

// CHECK-LABEL: func.func private @finalize.kernel(
// CHECK-NOT: memref.alloc
// CHECK: attn.finalize_rows
// CHECK: return
func.func @finalize(%m: tensor<8x?xf32>, %l: tensor<8x?xf32>, %a: tensor<8x?x?xf32>) -> (tensor<8x?x?xbf16>, tensor<8x?xf32>) {
  %o, %e = attn.finalize_state %m, %l, %a : (tensor<8x?xf32>, tensor<8x?xf32>, tensor<8x?x?xf32>) -> (tensor<8x?x?xbf16>, tensor<8x?xf32>)
  return %o, %e : tensor<8x?x?xbf16>, tensor<8x?xf32>
}

// The state of an attention, too; its out, which nothing uses, has no memory.
// CHECK-LABEL: func.func private @attention.kernel(
// CHECK-NOT: memref.alloc
// CHECK: attn.return_state
// CHECK: return
func.func @attention(%q: tensor<8x100x64xf32>, %k: tensor<8x?x64xf32>) -> (tensor<8x100xf32>, tensor<8x100xf32>, tensor<8x100x64xf32>) {
  %o, %m, %l, %a = attn.sdpa %q, %k, %k scale 0.125 returning(out, state)
      : (tensor<8x100x64xf32>, tensor<8x?x64xf32>, tensor<8x?x64xf32>) -> (tensor<8x100x64xf32>, tensor<8x100xf32>, tensor<8x100xf32>, tensor<8x100x64xf32>)
  return %m, %l, %a : tensor<8x100xf32>, tensor<8x100xf32>, tensor<8x100x64xf32>
}
