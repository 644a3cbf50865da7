// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One step with nothing optional, and with bias and mask.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: func @full
// CHECK: attn.online %{{.*}}, %{{.*}}, %{{.*}} rows %{{.*}} to %{{.*}} keys from %{{.*}} lengths %{{.*}}, %{{.*}} mode {{ *}}full
// CHECK-SAME: : <16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
func.func @full(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %j: index, %n: index) -> !attn.state<16 x 4 x 8, f32> {
  %t = attn.online %s, %k, %v rows %i to %j keys from %i lengths %n, %n mode full {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return %t : !attn.state<16 x 4 x 8, f32>
}

// CHECK-LABEL: func @edge
// CHECK: attn.online {{.*}} bias %{{.*}} : memref<?x?xf32> where causal(bottom_right) and key_length(%{{.*}} : index) and %{{.*}} : memref<1x?xi1> mode {{ *}}edge
func.func @edge(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %j: index, %n: index, %b: memref<?x?xf32>, %allowed: memref<1x?xi1>) -> !attn.state<16 x 4 x 8, f32> {
  %t = attn.online %s, %k, %v rows %i to %j keys from %i lengths %n, %n bias %b : memref<?x?xf32>
      where causal(bottom_right) and key_length(%n : index) and %allowed : memref<1x?xi1> mode edge {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return %t : !attn.state<16 x 4 x 8, f32>
}

// CHECK-LABEL: func @tensors
// CHECK: attn.online {{.*}} where key_length(%{{.*}} : tensor<i64>) mode {{ *}}edge {{.*}} : <16 x 4 x 8, f32>, tensor<8x4xf16>, tensor<8x8xf16>
func.func @tensors(%s: !attn.state<16 x 4 x 8, f32>, %k: tensor<8x4xf16>, %v: tensor<8x8xf16>, %i: index, %len: tensor<i64>) -> !attn.state<16 x 4 x 8, f32> {
  %t = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i where key_length(%len : tensor<i64>) mode edge {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, tensor<8x4xf16>, tensor<8x8xf16>
  return %t : !attn.state<16 x 4 x 8, f32>
}

// Two maps.
// CHECK-LABEL: func @maps
// CHECK: %{{.*}}, %{{.*}} = attn.online %arg0, %arg2, %arg4 rows {{.*}} where causal(top_left) mode {{ *}}edge second %arg1, %arg3 : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32> {schedule = {{.*}}} : <16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
func.func @maps(%s: !attn.state<16 x 4 x 8, f32>, %t: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %j: memref<?x4xf32>, %v: memref<?x8xf32>, %i: index, %n: index) -> (!attn.state<16 x 4 x 8, f32>, !attn.state<16 x 4 x 8, f32>) {
  %a, %b = attn.online %s, %k, %v rows %i to %n keys from %i lengths %n, %n where causal(top_left) mode edge second %t, %j : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return %a, %b : !attn.state<16 x 4 x 8, f32>, !attn.state<16 x 4 x 8, f32>
}

// Matrices that come into the cache.
// CHECK-LABEL: func @prefetch
// CHECK: attn.online {{.*}} mode {{ *}}full prefetch %arg3, %arg2 : memref<?x5xf16>, memref<?x8xf32> {schedule = {{.*}}} : <16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
func.func @prefetch(%s: !attn.state<16 x 4 x 8, f32>, %k: memref<?x4xf32>, %v: memref<?x8xf32>, %a: memref<?x5xf16>, %i: index) -> !attn.state<16 x 4 x 8, f32> {
  %t = attn.online %s, %k, %v rows %i to %i keys from %i lengths %i, %i mode full prefetch %a, %v : memref<?x5xf16>, memref<?x8xf32> {schedule = #s}
      : !attn.state<16 x 4 x 8, f32>, memref<?x4xf32>, memref<?x8xf32>
  return %t : !attn.state<16 x 4 x 8, f32>
}
