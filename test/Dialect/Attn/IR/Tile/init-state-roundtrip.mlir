// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A state from a query tile, as memref and as tensor.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: func @memref
// CHECK: attn.init_state %{{.*}} scale 5.000000e-01 {schedule = #attn.cpu_schedule<{{.*}}>} : memref<16x4xf32> -> <16 x 4 x 8, f32>
func.func @memref(%q: memref<16x4xf32>) -> !attn.state<16 x 4 x 8, f32> {
  %s = attn.init_state %q scale 0.5 {schedule = #s} : memref<16x4xf32> -> !attn.state<16 x 4 x 8, f32>
  return %s : !attn.state<16 x 4 x 8, f32>
}

// CHECK-LABEL: func @tensor
// CHECK: attn.init_state %{{.*}} scale 1.000000e+00 {{.*}} : tensor<?x4xbf16> -> <16 x 4 x 8, f32>
func.func @tensor(%q: tensor<?x4xbf16>) -> !attn.state<16 x 4 x 8, f32> {
  %s = attn.init_state %q scale 1.0 {schedule = #s} : tensor<?x4xbf16> -> !attn.state<16 x 4 x 8, f32>
  return %s : !attn.state<16 x 4 x 8, f32>
}
