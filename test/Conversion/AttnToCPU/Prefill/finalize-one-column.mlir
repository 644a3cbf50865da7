// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The only column of a result is stored lane by lane, not as masked vectors.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.finalize(%{{.*}}: memref<{{.*}}xf32>, %[[O:.*]]: memref<?x1xf16>)
// CHECK-NOT: vector.maskedstore
// CHECK: %[[X:.*]] = vector.extract %{{.*}}[0] : f32 from vector<4xf32>
// CHECK: %[[Y:.*]] = arith.truncf %[[X]] : f32 to f16
// CHECK: memref.store %[[Y]], %[[O]]
// CHECK-NOT: vector.maskedstore
// CHECK: func.func private @f.kernel
func.func private @f.kernel(%q: memref<?x4xf16>, %o: memref<?x1xf16>) {
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf16> -> <8 x 4 x 1, f32>
  attn.finalize %s0 outs(%o : memref<?x1xf16>) {schedule = #s} : <8 x 4 x 1, f32>
  return
}
