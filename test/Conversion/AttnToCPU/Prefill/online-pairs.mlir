// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of pairs. Keys are read as pairs straight from memory, the last number of
// an odd row alone. Scores stay unscaled until the maximum is subtracted, unless
// that is large; the maximum begins with the first of them. exp2 may be rough, and weights are rounded
// into pairs. Then values of two keys are put side by side, those of a last key
// alone beside 0.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0, products = dot>

// CHECK-DAG: #[[PAIR:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[LANE:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK: func.func private @f.online_full(%[[S:.*]]: memref<42x4xf32>, %[[K:.*]]: memref<?x5xbf16>, %[[V:.*]]: memref<?x6xbf16>
// CHECK-DAG: %[[NONE:.*]] = arith.constant dense<0.000000e+00> : vector<8xbf16>

// CHECK: %[[FACTOR:.*]] = vector.load %[[S]][%c41, %c0]
// CHECK: scf.for
// CHECK: vector.load %[[K]]{{.*}} : memref<?x5xbf16>, vector<2xbf16>
// CHECK: vector.contract {indexing_maps = [#[[PAIR]], #[[PAIR]], #[[LANE]]], iterator_types = ["parallel", "reduction"], kind = #vector.kind<add>} {{.*}} : vector<4x2xbf16>, vector<4x2xbf16> into vector<4xf32>
// CHECK: memref.load %[[K]]{{.*}} : memref<?x5xbf16>
// CHECK: arith.extui {{.*}} : i16 to i32
// CHECK: vector.contract

// CHECK: %[[SIZE:.*]] = math.absf
// CHECK: %[[LARGE:.*]] = arith.cmpf ogt, %[[SIZE]],
// CHECK: %[[ANY:.*]] = vector.reduction <or>, %[[LARGE]]
// CHECK: scf.if %[[ANY]]
// CHECK: arith.mulf %{{.*}}, %[[FACTOR]]
// CHECK: %[[LEFT:.*]] = arith.select %[[ANY]], %{{.*}}, %[[FACTOR]]
// CHECK: vector.fma %{{.*}}, %[[LEFT]], %{{.*}} : vector<4xf32>
// CHECK: math.exp2 %{{.*}} fastmath<afn>
// CHECK: arith.truncf {{.*}} : vector<4xf32> to vector<4xbf16>
// CHECK: arith.truncf {{.*}} : vector<4xf32> to vector<4xbf16>
// CHECK: vector.interleave {{.*}} : vector<4xbf16> -> vector<8xbf16>
// CHECK: math.exp2 %{{[^ ]*}} : vector<4xf32>

// CHECK: %[[STAGED:.*]] = memref.reinterpret_cast %[[S]]
// CHECK: scf.for
// CHECK: %[[EVEN:.*]] = vector.maskedload %[[V]]
// CHECK: %[[ODD:.*]] = vector.maskedload %[[V]]
// CHECK: %[[BOTH:.*]] = vector.interleave %[[EVEN]], %[[ODD]] : vector<8xbf16> -> vector<16xbf16>
// CHECK: vector.bitcast %[[BOTH]] : vector<16xbf16> to vector<8xf32>
// CHECK: vector.maskedstore %[[STAGED]]
// CHECK: scf.if
// CHECK: vector.interleave %{{.*}}, %[[NONE]]

// CHECK: memref.load %[[STAGED]]
// CHECK: vector.contract
func.func private @f.kernel(%q: memref<?x5xbf16>, %k: memref<?x5xbf16>, %v: memref<?x6xbf16>, %b: index, %e: index) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x5xbf16> -> <8 x 5 x 6, f32>
  %s1 = attn.online %s0, %k, %v rows %b to %e keys from %c0 lengths %b, %b mode full {schedule = #s} : <8 x 5 x 6, f32>, memref<?x5xbf16>, memref<?x6xbf16>
  return
}

// A bias wants scores in its unit: they are multiplied first.
// CHECK: func.func private @g.online_full(%[[S:[^:]*]]: memref<{{[^,]*}}xf32>
// CHECK: %[[FACTOR:.*]] = vector.load %[[S]][%c39, %c0]
// CHECK: arith.mulf %{{.*}}, %[[FACTOR]]
// CHECK-NOT: vector.fma %{{.*}}, %[[FACTOR]]
// CHECK: math.exp2 %{{.*}} fastmath<afn>
// CHECK: func.func private @g.kernel
func.func private @g.kernel(%q: memref<?x4xbf16>, %k: memref<?x4xbf16>, %v: memref<?x6xbf16>, %bias: memref<1x?xf32>, %b: index, %e: index) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xbf16> -> <8 x 4 x 6, f32>
  %s1 = attn.online %s0, %k, %v rows %b to %e keys from %c0 lengths %b, %b bias %bias : memref<1x?xf32> mode full {schedule = #s} : <8 x 4 x 6, f32>, memref<?x4xbf16>, memref<?x6xbf16>
  return
}
