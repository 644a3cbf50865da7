// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of two states: where the maximum of one is -inf, the other is chosen as it is; else both are weighted and added, without
// fma, so that their order changes nothing. The last columns are read by a mask: a group that moved back would read what it
// has written where a result is the memory of an operand.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s --implicit-check-not=vector.fma
// RUN: attn-opt %s --convert-attn-to-cpu --attn-approximate-math --attn-lower-vector-math --canonicalize | FileCheck %s --check-prefix=LOWERED --implicit-check-not=math.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.merge_states(%[[M1:.*]]: memref<?xf32>, %[[L1:.*]]: memref<?xf32>, %[[A1:.*]]: memref<?x6xf32>, %[[M2:.*]]: memref<?xf32>, %[[L2:.*]]: memref<?xf32>, %[[A2:.*]]: memref<?x6xf32>, %[[M:.*]]: memref<?xf32>, %[[L:.*]]: memref<?xf32>, %[[A:.*]]: memref<?x6xf32>)
// CHECK-DAG: %[[INF:.*]] = arith.constant dense<0xFF800000> : vector<4xf32>
// CHECK: scf.for %[[R:.*]] =
// CHECK: memref.load %[[M1]][%[[R]]]
// CHECK: memref.load %[[M2]][%[[R]]]
// CHECK: %[[NONE1:.*]] = arith.cmpf oeq, %{{.*}}, %[[INF]]
// CHECK: %[[NONE2:.*]] = arith.cmpf oeq, %{{.*}}, %[[INF]]
// CHECK: %[[F1:.*]] = math.exp2
// CHECK: %[[F2:.*]] = math.exp2
// CHECK: memref.store %{{.*}}, %[[M]][%[[R]]]
// CHECK: memref.store %{{.*}}, %[[L]][%[[R]]]
// CHECK: %[[X:.*]] = vector.load %[[A1]]
// CHECK-NEXT: %[[Y:.*]] = vector.load %[[A2]]
// CHECK-DAG: %[[X1:.*]] = arith.mulf %[[X]], %[[F1]]
// CHECK-DAG: %[[Y1:.*]] = arith.mulf %[[Y]], %[[F2]]
// CHECK: %[[Z:.*]] = arith.addf %[[X1]], %[[Y1]]
// CHECK-NEXT: %[[Z1:.*]] = arith.select %[[NONE1]], %[[Y]], %[[Z]]
// CHECK-NEXT: %[[Z2:.*]] = arith.select %[[NONE2]], %[[X]], %[[Z1]]
// CHECK-NEXT: vector.store %[[Z2]], %[[A]]
// CHECK: %[[MASK:.*]] = vector.constant_mask [2]
// CHECK: vector.maskedload %[[A1]][%[[R]], %c4], %[[MASK]]
// CHECK: vector.maskedload %[[A2]][%[[R]], %c4], %[[MASK]]
// CHECK: vector.maskedstore %[[A]][%[[R]], %c4], %[[MASK]]
// CHECK: func.func private @f.finalize_state(%[[M:.*]]: memref<?xf32>, %[[L:.*]]: memref<?xf32>, %[[A:.*]]: memref<?x?xf32>, %[[O:.*]]: memref<?x?xf16>, %[[E:.*]]: memref<?xf32>)
// CHECK: scf.for %[[R:.*]] =
// CHECK: memref.load %[[L]][%[[R]]]
// CHECK: arith.divf
// CHECK: %[[INVERSE:.*]] = arith.select
// CHECK: math.log
// CHECK: memref.store %{{.*}}, %[[E]][%[[R]]]
// CHECK: scf.for
// CHECK: %[[X:.*]] = vector.load %[[A]]
// CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[X]], %[[INVERSE]]
// CHECK-NEXT: arith.truncf %[[Y]] : vector<4xf32> to vector<4xf16>
// CHECK-NEXT: vector.store %{{.*}}, %[[O]]
// CHECK: vector.create_mask
// CHECK: vector.maskedstore %[[O]]

// LOWERED: func.func private @f.merge_states(
// LOWERED: func.func private @f.kernel
func.func private @f.kernel(%m: memref<?xf32>, %l: memref<?xf32>, %a: memref<?x6xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf16>) {
  attn.merge_rows %m, %l, %a with %m, %l, %a outs(%m, %l, %a : memref<?xf32>, memref<?xf32>, memref<?x6xf32>) {schedule = #s}
      : memref<?xf32>, memref<?xf32>, memref<?x6xf32> with memref<?xf32>, memref<?xf32>, memref<?x6xf32>
  attn.finalize_rows %m, %l, %b outs(%o, %m : memref<?x?xf16>, memref<?xf32>) {schedule = #s} : memref<?xf32>, memref<?xf32>, memref<?x?xf32>
  return
}
