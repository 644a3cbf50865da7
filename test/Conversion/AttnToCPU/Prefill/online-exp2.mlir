// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// exp2 is a neutral op in the kernel and then the project's own: a clamp at -127, a
// shift by 23 bits and six FMA. No math op and no call is left.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s --check-prefix=NEUTRAL
// RUN: attn-opt %s --convert-attn-to-cpu --attn-lower-vector-math --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// NEUTRAL-LABEL: func.func private @f.online_full(
// NEUTRAL: math.exp2 %{{.*}} : vector<4xf32>
// NEUTRAL-NOT: arith.shli
// NEUTRAL: func.func private @f.kernel

// CHECK-NOT: math.
// CHECK: func.func private @f.online_full(
// CHECK-DAG: %[[LOWEST:.*]] = arith.constant dense<-1.270000e+02> : vector<4xf32>
// CHECK-DAG: %[[BITS:.*]] = arith.constant dense<23> : vector<4xi32>
// CHECK: %[[C:.*]] = arith.cmpf ogt, %[[LOWEST]], %[[X:.*]] : vector<4xf32>
// CHECK-NEXT: arith.select %[[C]], %[[LOWEST]], %[[X]]
// CHECK: arith.shli %{{.*}}, %[[BITS]] : vector<4xi32>
// CHECK-NOT: math.
// CHECK-NOT: {{[ ]call }}
// CHECK: func.func private @f.kernel
func.func private @f.kernel(%q: memref<?x4xf32>, %k: memref<?x4xf32>, %v: memref<?x6xf32>, %b: index, %e: index, %sq: index, %sk: index) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  %s1 = attn.online %s0, %k, %v rows %b to %e keys from %c0 lengths %sq, %sk mode full {schedule = #s} : <8 x 4 x 6, f32>, memref<?x4xf32>, memref<?x6xf32>
  return
}
