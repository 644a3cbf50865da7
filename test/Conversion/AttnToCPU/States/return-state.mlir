// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A state as a caller gets it: m in the natural unit, and sums and contexts that belong to the rounded m. The power of two that
// rounding leaves is taken with log2(e) in two numbers, unless m is so large that it exceeds 1.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 2, query_tile = 8, key_tile = 16, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

// CHECK: func.func private @f.return_state(%[[S:.*]]: memref<46x4xf32>, %[[M:.*]]: memref<?xf32>, %[[L:.*]]: memref<?xf32>, %[[A:.*]]: memref<?x6xf32>)
// CHECK-DAG: %[[LN2:.*]] = arith.constant dense<0.693147182> : vector<4xf32>
// CHECK-DAG: %[[HIGH:.*]] = arith.constant dense<-1.44269502> : vector<4xf32>
// CHECK-DAG: %[[LOW:.*]] = arith.constant dense<-1.925963{{[0-9]*}}E-8> : vector<4xf32>
// CHECK: %[[MAX:.*]] = vector.load %[[S]]
// CHECK: %[[SUM:.*]] = vector.load %[[S]]
// CHECK: %[[NATURAL:.*]] = arith.mulf %[[MAX]], %[[LN2]]
// CHECK: %[[R1:.*]] = vector.fma %[[SAFE:.*]], %[[HIGH]], %{{.*}}
// CHECK: %[[R2:.*]] = vector.fma %[[SAFE]], %[[LOW]], %[[R1]]
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[R2]], %[[R2]]
// CHECK-NEXT: %[[SMALL:.*]] = arith.cmpf olt, %[[SQUARE]]
// CHECK-NEXT: %[[R3:.*]] = arith.select %[[SMALL]], %[[R2]]
// CHECK-DAG: %[[F:.*]] = math.exp2 %[[R3]]
// CHECK-DAG: vector.fma %[[SUM]], %{{.*}}, %[[NATURAL]]
// CHECK: vector.store %[[F]], %[[S]][%[[KEPT:.*]], %c0]
// CHECK: memref.store %{{.*}}, %[[M]]
// CHECK: %[[F1:.*]] = vector.load %[[S]][%[[KEPT]], %c0]
// CHECK: arith.mulf %{{.*}}, %[[F1]]
// CHECK: memref.store %{{.*}}, %[[L]]
// CHECK: %[[F2:.*]] = vector.load %[[S]][%[[KEPT]], %c0]
// CHECK: arith.mulf %{{.*}}, %[[F2]]
// CHECK: vector.store %{{.*}}, %[[A]]

// CHECK: func.func private @f.combine_state(%[[P:.*]]: memref<?x?x10xf32>, %[[M:.*]]: memref<?xf32>, %[[L:.*]]: memref<?xf32>, %[[A:.*]]: memref<?x8xf32>)
// CHECK: %[[STATES:.*]] = memref.dim %[[P]], %c0
// CHECK: scf.for %[[R:.*]] =
// CHECK: %[[MAX:.*]] = scf.for %{{.*}} = %c0 to %[[STATES]] step %c1
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: vector.fma
// CHECK: %[[F:.*]] = math.exp2
// CHECK: memref.store %{{.*}}, %[[M]][%[[R]]]
// CHECK: memref.store %{{.*}}, %[[L]][%[[R]]]
// CHECK: scf.for
// CHECK: arith.mulf %{{.*}}, %[[F]]
// CHECK: vector.store %{{.*}}, %[[A]][%[[R]], %c0]
// CHECK: vector.store %{{.*}}, %[[A]][%[[R]], %c4]
func.func private @f.kernel(%q: memref<?x4xf32>, %m: memref<?xf32>, %l: memref<?xf32>, %a: memref<?x6xf32>, %p: memref<?x?x10xf32>, %b: memref<?x8xf32>) {
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  attn.return_state %s0 outs(%m, %l, %a : memref<?xf32>, memref<?xf32>, memref<?x6xf32>) {schedule = #s} : <8 x 4 x 6, f32>
  attn.combine_state %p outs(%m, %l, %b : memref<?xf32>, memref<?xf32>, memref<?x8xf32>) {schedule = #d} : memref<?x?x10xf32>
  return
}
