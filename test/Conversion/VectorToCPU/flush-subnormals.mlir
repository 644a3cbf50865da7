// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --pass-pipeline="builtin.module(func.func(attn-flush-subnormals))" | FileCheck %s
// RUN: attn-opt %examples/causal.mlir --emit=asm --target=x86-64-v3 | FileCheck %s --check-prefix=ASM
// RUN: attn-opt %examples/causal.mlir --emit=asm --target=aarch64 | FileCheck %s --check-prefix=ARM

// CHECK-LABEL: func.func @weighs(
// CHECK-NOT: attn.flushes
// CHECK: %[[OLD:.*]] = llvm.alloca
// CHECK: %[[NEW:.*]] = llvm.alloca
// CHECK: llvm.call_intrinsic "llvm.x86.sse.stmxcsr"(%[[OLD]])
// CHECK: %[[BITS:.*]] = llvm.load %[[OLD]]
// CHECK: %[[FLUSH:.*]] = llvm.mlir.constant(40832 : i32)
// CHECK: %[[SET:.*]] = llvm.or %[[BITS]], %[[FLUSH]]
// CHECK: llvm.store %[[SET]], %[[NEW]]
// CHECK: llvm.call_intrinsic "llvm.x86.sse.ldmxcsr"(%[[NEW]])
// CHECK: math.exp2
// CHECK: llvm.call_intrinsic "llvm.x86.sse.ldmxcsr"(%[[OLD]])
// CHECK-NEXT: return
func.func @weighs(%x: memref<16xf32>) attributes {attn.flushes} {
  %c0 = arith.constant 0 : index
  %v = vector.load %x[%c0] : memref<16xf32>, vector<16xf32>
  %w = math.exp2 %v : vector<16xf32>
  vector.store %w, %x[%c0] : memref<16xf32>, vector<16xf32>
  return
}

// Others are left alone.
// CHECK-LABEL: func.func @copies(
// CHECK-NOT: mxcsr
func.func @copies(%x: memref<16xf32>) {
  return
}

// Kernels that weigh have it, and keep it to themselves; the function that
// calls them does not.
// ASM-LABEL: causal.online_full:
// ASM: stmxcsr
// ASM: ldmxcsr
// ASM: vfmadd
// ASM: ldmxcsr
// ASM: retq
// ASM-LABEL: causal.items:
// ASM-NOT: mxcsr
// ASM: retq
// ARM-NOT: {{[fF][pP][cC][rR]}}
