// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: func @single
// CHECK: attn.add_sink %{{.*}}, %{{.*}} {schedule = #attn.cpu_schedule<{{.*}}>} : <16 x 4 x 8, f32>, f32{{$}}
func.func @single(%s: !attn.state<16 x 4 x 8, f32>, %sink: f32) -> !attn.state<16 x 4 x 8, f32> {
  %r = attn.add_sink %s, %sink {schedule = #s} : !attn.state<16 x 4 x 8, f32>, f32
  return %r : !attn.state<16 x 4 x 8, f32>
}

// CHECK-LABEL: func @double
// CHECK: attn.add_sink %{{.*}}, %{{.*}} : <16 x 4 x 8, f64>, f64{{$}}
func.func @double(%s: !attn.state<16 x 4 x 8, f64>, %sink: f64) -> !attn.state<16 x 4 x 8, f64> {
  %r = attn.add_sink %s, %sink {schedule = #s} : !attn.state<16 x 4 x 8, f64>, f64
  return %r : !attn.state<16 x 4 x 8, f64>
}
