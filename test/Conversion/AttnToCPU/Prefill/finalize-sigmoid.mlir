// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A context by sigmoid is the result as it stands, weights need no sum, and two contexts are added.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.merge(%[[A:.*]]: memref<46x4xf32>, %[[B:.*]]: memref<46x4xf32>)
// CHECK-NOT: math.exp2
// CHECK-DAG: %[[X:.*]] = vector.load %[[A]]
// CHECK-DAG: %[[Y:.*]] = vector.load %[[B]]
// CHECK: %[[Z:.*]] = arith.addf %[[X]], %[[Y]]
// CHECK-NEXT: vector.store %[[Z]], %[[A]]
// CHECK-NOT: math.exp2
// CHECK: func.func private @f.finalize(
// CHECK-NOT: arith.divf
// CHECK-NOT: arith.mulf
// CHECK: vector.shuffle
// CHECK-NOT: arith.divf
// CHECK-NOT: arith.mulf
// CHECK: func.func private @f.weigh(
// CHECK: %[[P:.*]] = math.exp2
// CHECK-NEXT: %[[D:.*]] = arith.addf %[[P]]
// CHECK-NEXT: arith.divf %[[P]], %[[D]]
// CHECK: func.func private @f.kernel
func.func private @f.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %b: index, %e: index, %o: memref<?x6xf32>, %m: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 6, f32 by sigmoid>
  %s1 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 6, f32 by sigmoid>
  %s2 = attn.merge %s0, %s1 {schedule = #s} : <8 x 4 x 6, f32 by sigmoid>
  attn.finalize %s2 outs(%o : memref<?x6xf32>) {schedule = #s} : <8 x 4 x 6, f32 by sigmoid>
  attn.weigh %s2, %k rows %b to %e keys from %c0 lengths %b, %b scale 0.5 where causal(top_left) weights %m : memref<?x?xf32> {schedule = #s} : <8 x 4 x 6, f32 by sigmoid>, memref<?x4xf32>
  return
}
