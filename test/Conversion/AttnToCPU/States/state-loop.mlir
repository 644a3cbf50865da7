// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A state that a loop carries is one buffer, changed in place.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.kernel
// CHECK: %[[S:.*]] = memref.alloc()
// CHECK-NOT: memref.copy
// CHECK: scf.for %{{.*}} = %c0 to %arg3 step %c1 {
// CHECK-NEXT: func.call @f.online_full(%[[S]],
// CHECK-NEXT: }
// CHECK-NEXT: call @f.finalize(%[[S]],
func.func private @f.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %v: memref<?x6xf32>, %n: index, %o: memref<?x6xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  %s1 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %s0) -> (!attn.state<8 x 4 x 6, f32>) {
    %t = attn.online %s, %k, %v rows %c0 to %n keys from %c0 lengths %n, %n mode full {schedule = #s} : <8 x 4 x 6, f32>, memref<?x4xf32>, memref<?x6xf32>
    scf.yield %t : !attn.state<8 x 4 x 6, f32>
  }
  attn.finalize %s1 outs(%o : memref<?x6xf32>) {schedule = #s} : <8 x 4 x 6, f32>
  return
}
