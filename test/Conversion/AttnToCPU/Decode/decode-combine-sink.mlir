// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sink is one more score: the greatest m is at least it, and the sum has one more term. Parts that weigh nothing beside
// it are left out, so that a NaN in them is.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 2, query_tile = 8, key_tile = 16, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

// CHECK: func.func private @f.combine(%[[P:.*]]: memref<?x?x10xf32>, %[[S:.*]]: f32, %[[O:.*]]: memref<?x8xf32>)
// CHECK: %[[ALL:.*]] = vector.broadcast %[[S]]
// CHECK: %[[SCORE:.*]] = arith.select %{{.*}}, %[[ALL]]
// CHECK: scf.for
// CHECK: %[[MAX:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[SCORE]])
// CHECK: scf.for
// CHECK: %[[NOTHING:.*]] = arith.cmpf oeq
// CHECK: arith.select %[[NOTHING]]
// CHECK: %[[EQUAL:.*]] = arith.cmpf oeq, %[[SCORE]], %[[MAX]]
// CHECK: arith.select %[[EQUAL]]
// CHECK: arith.divf
func.func private @f.kernel(%p: memref<?x?x10xf32>, %s: f32, %o: memref<?x8xf32>) {
  attn.combine %p sink %s : f32 outs(%o : memref<?x8xf32>) {schedule = #d} : memref<?x?x10xf32>
  return
}
