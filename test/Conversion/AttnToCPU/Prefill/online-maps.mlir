// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two maps: keys of f16 are converted for each; after the weights of both maps the values take their place, converted
// once for both; then come both contexts.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 2>

// CHECK: func.func private @f.differential_online_full(%[[A:[^:]*]]: memref<[[STATE:[0-9x]*]]xf32>, %[[K1:[^:]*]]: memref<?x4xf16>, %[[V:[^:]*]]: memref<?x4xf16>, {{.*}}, %[[B:[^:]*]]: memref<[[STATE]]xf32>, %[[K2:[^:]*]]: memref<?x4xf16>)
// CHECK: %[[S1:.*]] = memref.reinterpret_cast %[[A]]
// CHECK: vector.load %[[K1]]
// CHECK: %[[S2:.*]] = memref.reinterpret_cast %[[B]]
// CHECK: vector.load %[[K2]]
// CHECK-NOT: vector.load %[[V]]
// CHECK: memref.prefetch %[[K1]]
// CHECK: memref.prefetch %[[V]]
// CHECK: memref.load %[[S1]]
// CHECK: math.exp2
// CHECK: memref.prefetch %[[K2]]
// CHECK-NOT: memref.prefetch %[[V]]
// CHECK: memref.load %[[S2]]
// CHECK: math.exp2
// CHECK: %[[W:.*]] = memref.reinterpret_cast %[[A]]
// CHECK: vector.load %[[V]]
// CHECK-NOT: vector.load %[[V]]
// CHECK: memref.load %[[W]]
// CHECK: vector.store %{{.*}}, %[[A]]
// CHECK: memref.load %[[W]]
// CHECK: vector.store %{{.*}}, %[[B]]
// CHECK: func.func private @f.kernel
// CHECK: call @f.differential_online_full(%[[X:.*]], %{{.*}}, %[[Y:[^,)]*]], %{{[^,)]*}}) :
func.func private @f.kernel(%q: memref<?x4xf16>, %k1: memref<?x4xf16>, %k2: memref<?x4xf16>, %v: memref<?x4xf16>, %b: index, %e: index) {
  %c0 = arith.constant 0 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf16> -> <8 x 4 x 4, f32>
  %t0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf16> -> <8 x 4 x 4, f32>
  %n:2 = attn.online %s0, %k1, %v rows %b to %e keys from %c0 lengths %b, %b mode full second %t0, %k2 : !attn.state<8 x 4 x 4, f32>, memref<?x4xf16>
      {schedule = #s} : <8 x 4 x 4, f32>, memref<?x4xf16>, memref<?x4xf16>
  return
}
