// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heads of a group read the same key head: the quotient of the head's number.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @grouped
// CHECK: scf.forall (%[[N:.*]], %[[H:.*]], %{{.*}}) in (%{{.*}}, 8, %{{.*}})
// CHECK: %[[KV:.*]] = arith.divui %[[H]], %c4
// CHECK: tensor.extract_slice %arg0[%[[N]], %[[H]],
// CHECK: tensor.extract_slice %arg1[%[[N]], %[[KV]], 0, 0]
// CHECK: tensor.extract_slice %arg2[%[[N]], %[[KV]], 0, 0]
func.func @grouped(%q: tensor<?x8x?x4xf32>, %k: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.5 {schedule = #s} : (tensor<?x8x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// One key head for all queries.
// CHECK-LABEL: @multi_query
// CHECK: scf.forall (%[[H:.*]], %{{.*}}) in (8, %{{.*}})
// CHECK: %[[KV:.*]] = arith.divui %[[H]], %c8
// CHECK: tensor.extract_slice %arg1[%[[KV]], 0, 0]
func.func @multi_query(%q: tensor<8x?x4xf32>, %k: tensor<1x?x4xf32>) -> tensor<8x?x4xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 {schedule = #s} : (tensor<8x?x4xf32>, tensor<1x?x4xf32>, tensor<1x?x4xf32>) -> tensor<8x?x4xf32>
  return %o : tensor<8x?x4xf32>
}

// As many key heads as heads: no division.
// CHECK-LABEL: @same
// CHECK-NOT: arith.divui
func.func @same(%q: tensor<8x?x4xf32>, %k: tensor<8x?x4xf32>) -> tensor<8x?x4xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 {schedule = #s} : (tensor<8x?x4xf32>, tensor<8x?x4xf32>, tensor<8x?x4xf32>) -> tensor<8x?x4xf32>
  return %o : tensor<8x?x4xf32>
}
