// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With a mask only visible pairs count. Booleans are asked key by key, within the keys that the other terms see, and once for all heads.
// RUN: attn-opt %s --attn-count-flops --canonicalize --cse | FileCheck %s

// CHECK: func.func private @f.flops(
// CHECK: scf.for %[[N:.*]] = %c0 to
// CHECK: %[[LEN:.*]] = tensor.extract %arg2[%[[N]]] : tensor<?xi32>
// CHECK: scf.for %[[Q:.*]] = %c0 to
// CHECK: %[[NEXT:.*]] = arith.addi %[[Q]], %c1
// CHECK: %[[LAST:.*]] = arith.minsi %{{.*}}, %[[NEXT]]
// CHECK: %[[END:.*]] = arith.maxsi %[[LAST]], %c0
// CHECK: scf.for %[[K:.*]] = %c0 to %[[END]]
// CHECK-DAG: arith.cmpi sle, %[[K]], %[[Q]]
// CHECK-DAG: tensor.extract %arg3[%[[K]]] : tensor<?xi1>
// CHECK: arith.index_castui %{{.*}} : i1 to index
// CHECK: arith.muli %{{.*}}, %c8 : index
func.func @f(%q: tensor<?x8x?x4xf32>, %k: tensor<?x8x?x4xf32>, %n: tensor<?xi32>, %m: tensor<?xi1>) -> tensor<?x8x?x4xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 where causal(top_left) and key_length(%n : tensor<?xi32>) and %m : tensor<?xi1> : (tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// A row's document is found by where documents begin, and gives the keys of which the numbers are compared.
// CHECK: func.func private @tables.flops(
// CHECK: scf.for %[[Q:.*]] = %c0 to
// CHECK: %[[OWN:.*]]:4 = scf.for %[[D:.*]] = %c1 to
// CHECK: tensor.extract %arg3[%[[D]]] : tensor<?xi32>
// CHECK: arith.minsi %{{.*}}, %[[OWN]]#3
// CHECK: scf.for %[[K:[a-z0-9]+]] = %
// CHECK-DAG: tensor.extract %arg2[%[[Q]]] : tensor<?xi32>
// CHECK-DAG: tensor.extract %arg2[%[[K]]] : tensor<?xi32>
func.func @tables(%q: tensor<?x4xf32>, %k: tensor<?x4xf32>, %ids: tensor<?xi32>, %starts: tensor<?xi32>) -> tensor<?x4xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 where document(%ids : tensor<?xi32>) and document(cumulative %starts : tensor<?xi32>) : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %o : tensor<?x4xf32>
}

// Without a look-up no key is asked for; nor is a batch entry or a head, which are all the same.
// CHECK: func.func private @closed.flops(
// CHECK: %[[ONCE:.*]] = arith.minsi %dim, %c1
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %[[ONCE]]
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %
// CHECK-NOT: scf.for
// CHECK: return
func.func @closed(%q: tensor<?x8x?x4xf32>, %k: tensor<?x8x?x4xf32>) -> tensor<?x8x?x4xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 where (sink(4) or window(left = 30)) and causal(top_left) : (tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// Keys at a distance: a loop over the remainders of a row, not over its keys.
// CHECK: func.func private @dilated.flops(
// CHECK: scf.for %{{.*}} = %c0 to %dim
// CHECK: %[[CLASSES:.*]] = arith.minsi %{{.*}}, %c3
// CHECK: scf.for %{{.*}} = %c0 to %[[CLASSES]]
// CHECK-NOT: scf.for
// CHECK: return
func.func @dilated(%q: tensor<?x4xf32>, %k: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.5 where dilated(3) : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %o : tensor<?x4xf32>
}
