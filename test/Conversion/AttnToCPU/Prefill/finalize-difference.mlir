// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Both states are divided by their sums, the second also multiplied by lambda, which a row that saw no key does not see.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize --split-input-file --verify-diagnostics | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0>

// CHECK: func.func private @f.finalize_difference(%[[A:[^:]*]]: memref<{{.*}}xf32>, %[[B:[^:]*]]: memref<{{.*}}xf32>, %[[L:[^:]*]]: f32, %[[O:[^:]*]]: memref<?x4xf16>)
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<4xf32>
// CHECK-DAG: %[[LS:.*]] = vector.broadcast %[[L]] : f32 to vector<4xf32>
// CHECK: %[[SUM1:.*]] = vector.load %[[A]]
// CHECK: %[[D1:.*]] = arith.divf %{{.*}}, %[[SUM1]]
// CHECK: %[[I1:.*]] = arith.select %{{.*}}, %[[ZERO]], %[[D1]]
// CHECK: vector.store %[[I1]], %[[A]][%[[K1:.*]], %c0]
// CHECK: %[[SUM2:.*]] = vector.load %[[B]]
// CHECK: %[[D2:.*]] = arith.divf %{{.*}}, %[[SUM2]]
// CHECK: %[[I2:.*]] = arith.select %{{.*}}, %[[ZERO]], %[[D2]]
// CHECK: %[[NEGATIVE:.*]] = arith.subf %[[ZERO]], %[[LS]]
// CHECK: %[[P:.*]] = arith.mulf %[[I2]], %[[NEGATIVE]]
// CHECK: %[[F:.*]] = arith.select %{{.*}}, %[[ZERO]], %[[P]]
// CHECK: vector.store %[[F]], %[[B]][%[[K2:.*]], %c0]
// CHECK: %[[X:.*]] = vector.load %[[A]]
// CHECK: %[[L1:.*]] = vector.load %[[A]][%[[K1]], %c0]
// CHECK: %[[Z:.*]] = arith.mulf %[[X]], %[[L1]]
// CHECK: %[[Y:.*]] = vector.load %[[B]]
// CHECK: %[[L2:.*]] = vector.load %[[B]][%[[K2]], %c0]
// CHECK: vector.fma %[[Y]], %[[L2]], %[[Z]]
// CHECK: func.func private @f.kernel
func.func private @f.kernel(%q: memref<?x4xf16>, %l: f32, %o: memref<?x4xf16>) {
  %s = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf16> -> <8 x 4 x 4, f32>
  %t = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x4xf16> -> <8 x 4 x 4, f32>
  attn.finalize_difference %s, %t by %l outs(%o : memref<?x4xf16>) {schedule = #s} : <8 x 4 x 4, f32>, f32
  return
}

// -----

#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 2, query_tile = 8, key_tile = 16, unroll = 1, prefetch = 0, kind = decode, split_keys = 64>

func.func private @decode.kernel(%q: memref<?x4xf32>, %l: f32, %o: memref<?x8xf32>) {
  %s = attn.init_state %q scale 0.5 {schedule = #d} : memref<?x4xf32> -> !attn.state<8 x 4 x 8, f32, decode>
  %t = attn.init_state %q scale 0.5 {schedule = #d} : memref<?x4xf32> -> !attn.state<8 x 4 x 8, f32, decode>
  // expected-error@+2 {{expects a state of kind prefill on this target}}
  // expected-error@+1 {{failed to legalize operation 'attn.finalize_difference'}}
  attn.finalize_difference %s, %t by %l outs(%o : memref<?x8xf32>) {schedule = #d} : !attn.state<8 x 4 x 8, f32, decode>, f32
  return
}
