// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With a mask only visible pairs count: each is tested.
// RUN: attn-opt %s --attn-count-flops --canonicalize --cse | FileCheck %s

// CHECK: func.func private @f.flops(
// CHECK: scf.for %[[N:.*]] = %c0 to
// CHECK: %[[LEN:.*]] = tensor.extract %arg2[%[[N]]] : tensor<?xi32>
// CHECK: scf.for %[[Q:.*]] = %c0 to
// CHECK: scf.for %[[K:.*]] = %c0 to
// CHECK-DAG: arith.cmpi sle, %[[K]], %[[Q]]
// CHECK-DAG: tensor.extract %arg3[%[[K]]] : tensor<?xi1>
// CHECK: arith.index_castui %{{.*}} : i1 to index
func.func @f(%q: tensor<?x8x?x4xf32>, %k: tensor<?x8x?x4xf32>, %n: tensor<?xi32>, %m: tensor<?xi1>) -> tensor<?x8x?x4xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 where causal(top_left) and key_length(%n : tensor<?xi32>) and %m : tensor<?xi1> : (tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// Terms that look something up are asked pair by pair; documents by where they begin one after the other.
// CHECK: func.func private @tables.flops(
// CHECK: scf.for %[[Q:.*]] = %c0 to
// CHECK: scf.for %[[K:.*]] = %c0 to
// CHECK-DAG: tensor.extract %arg2[%[[Q]]] : tensor<?xi32>
// CHECK-DAG: tensor.extract %arg2[%[[K]]] : tensor<?xi32>
// CHECK: scf.for %[[D:.*]] = %c0 to
// CHECK: tensor.extract %arg3[%[[D]]] : tensor<?xi32>
func.func @tables(%q: tensor<?x4xf32>, %k: tensor<?x4xf32>, %ids: tensor<?xi32>, %starts: tensor<?xi32>) -> tensor<?x4xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 where document(%ids : tensor<?xi32>) and document(cumulative %starts : tensor<?xi32>) : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %o : tensor<?x4xf32>
}
