// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One pass over the values: both maps take their step in one loop, with one slice of the values.
// RUN: attn-opt %s --attn-tile-keys --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @causal(
// CHECK-COUNT-1: scf.for %[[T:.*]] = %{{.*}} iter_args(%[[A:.*]] = %arg0, %[[B:.*]] = %arg1)
// CHECK-DAG: %[[V:.*]] = tensor.extract_slice %arg4[%[[FIRST:[^,]*]], 0]
// CHECK-DAG: %[[K1:.*]] = tensor.extract_slice %arg2[%[[FIRST]], 0]
// CHECK-DAG: %[[K2:.*]] = tensor.extract_slice %arg3[%[[FIRST]], 0]
// CHECK: %[[N:.*]], %[[M:.*]] = attn.online %[[A]], %[[K1]], %[[V]] {{.*}} keys from %[[FIRST]] {{.*}} mode full second %[[B]], %[[K2]]
// CHECK-NEXT: scf.yield %[[N]], %[[M]]
// CHECK: scf.for
// CHECK-COUNT-1: tensor.extract_slice %arg4[
// CHECK: attn.online {{.*}} mode edge second
// CHECK-NEXT: scf.yield
// CHECK-NOT: attn.online
func.func @causal(%s: !attn.state<16 x 4 x 6, f32>, %t: !attn.state<16 x 4 x 6, f32>, %k1: tensor<?x4xf32>, %k2: tensor<?x4xf32>, %v: tensor<?x6xf32>,
    %begin: index, %end: index, %sq: index, %sk: index) -> (!attn.state<16 x 4 x 6, f32>, !attn.state<16 x 4 x 6, f32>) {
  %c0 = arith.constant 0 : index
  %r:2 = attn.online %s, %k1, %v rows %begin to %end keys from %c0 lengths %sq, %sk where causal(top_left) mode edge
      second %t, %k2 : !attn.state<16 x 4 x 6, f32>, tensor<?x4xf32> {schedule = #s} : <16 x 4 x 6, f32>, tensor<?x4xf32>, tensor<?x6xf32>
  return %r#0, %r#1 : !attn.state<16 x 4 x 6, f32>, !attn.state<16 x 4 x 6, f32>
}

// A tile that a bitmap hides is left out for both.
// CHECK-LABEL: @block(
// CHECK: %[[R:.*]]:2 = scf.if %{{.*}} -> (!attn.state<16 x 4 x 6, f32>, !attn.state<16 x 4 x 6, f32>) {
// CHECK: %[[N:.*]], %[[M:.*]] = attn.online {{.*}} second
// CHECK: scf.yield %[[N]], %[[M]]
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[A:[^,]*]], %[[B:[^ ]*]] :
// CHECK: scf.yield %[[R]]#0, %[[R]]#1
func.func @block(%s: !attn.state<16 x 4 x 6, f32>, %t: !attn.state<16 x 4 x 6, f32>, %k: tensor<?x4xf32>, %v: tensor<?x6xf32>,
    %begin: index, %end: index, %sq: index, %sk: index, %m: tensor<?x?xi1>) -> (!attn.state<16 x 4 x 6, f32>, !attn.state<16 x 4 x 6, f32>) {
  %c0 = arith.constant 0 : index
  %r:2 = attn.online %s, %k, %v rows %begin to %end keys from %c0 lengths %sq, %sk where block(16, 32, %m : tensor<?x?xi1>) mode edge
      second %t, %k : !attn.state<16 x 4 x 6, f32>, tensor<?x4xf32> {schedule = #s} : <16 x 4 x 6, f32>, tensor<?x4xf32>, tensor<?x6xf32>
  return %r#0, %r#1 : !attn.state<16 x 4 x 6, f32>, !attn.state<16 x 4 x 6, f32>
}
