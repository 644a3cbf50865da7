// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two states into the first: both sums and contexts take exp2(m_i - m).
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.merge(%[[A:.*]]: memref<46x4xf32>, %[[B:.*]]: memref<46x4xf32>)
// CHECK: %[[MA:.*]] = vector.load %[[A]]
// CHECK: %[[MB:.*]] = vector.load %[[B]]
// CHECK-NEXT: %[[C:.*]] = arith.cmpf ogt, %[[MA]], %[[MB]]
// CHECK-NEXT: %[[M:.*]] = arith.select %[[C]], %[[MA]], %[[MB]]
// CHECK: %[[OLD:.*]] = vector.load %[[A]]
// CHECK-NEXT: arith.mulf %[[OLD]], %{{.*}}
// CHECK: vector.fma
// CHECK: vector.store %{{.*}}, %[[A]]
// CHECK-NOT: vector.store %{{.*}}, %[[B]]
// CHECK: func.func private @f.finalize(
func.func private @f.kernel(%q: memref<?x4xf32>, %o: memref<?x6xf32>) {
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  %s1 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  %s2 = attn.merge %s0, %s1 {schedule = #s} : <8 x 4 x 6, f32>
  attn.finalize %s2 outs(%o : memref<?x6xf32>) {schedule = #s} : <8 x 4 x 6, f32>
  return
}
