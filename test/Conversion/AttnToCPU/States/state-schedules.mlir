// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two schedules for states of one type: their buffers are as large as the larger
// layout, and kernels see them as their schedule lays them out.
// RUN: attn-opt %s --convert-attn-to-cpu | FileCheck %s

// CHECK: func.func private @f.init_state(%{{.*}}: memref<46x4xf32>, %{{.*}}: memref<?x4xf32>)
// CHECK: func.func private @f.init_state_1(%{{.*}}: memref<44x4xf32>, %{{.*}}: memref<?x4xf32>)
// CHECK-LABEL: func.func private @f.kernel
// CHECK: %[[A:.*]] = memref.alloc() {alignment = 64 : i64} : memref<184xf32>
// CHECK: %[[B:.*]] = memref.reinterpret_cast %[[A]] to offset: [0], sizes: [46, 4], strides: [4, 1] : memref<184xf32> to memref<46x4xf32>
// CHECK: call @f.init_state(%[[B]],
// CHECK: %[[C:.*]] = memref.alloc() {alignment = 64 : i64} : memref<184xf32>
// CHECK: %[[D:.*]] = memref.reinterpret_cast %[[C]] to offset: [0], sizes: [44, 4], strides: [4, 1] : memref<184xf32> to memref<44x4xf32>
// CHECK: call @f.init_state_1(%[[D]],
// CHECK: %[[E:.*]] = memref.reinterpret_cast %[[C]] to offset: [0], sizes: [44, 4], strides: [4, 1] : memref<184xf32> to memref<44x4xf32>
// CHECK: call @f.finalize(%[[E]],
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>
#t = #attn.cpu_schedule<lanes = 4, rows = 1, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

func.func private @f.kernel(%q: memref<?x4xf32>, %o: memref<?x6xf32>) {
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  %s1 = attn.init_state %q scale 0.5 {schedule = #t} : memref<?x4xf32> -> <8 x 4 x 6, f32>
  attn.finalize %s1 outs(%o : memref<?x6xf32>) {schedule = #t} : <8 x 4 x 6, f32>
  return
}
