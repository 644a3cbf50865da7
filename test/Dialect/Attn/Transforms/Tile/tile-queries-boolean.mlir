// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A boolean mask is cut to the item's head like a bias; weigh sees it too.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f
// CHECK: scf.forall (%[[N:.*]], %{{.*}}, %{{.*}}) in
// CHECK: %[[M:.*]] = tensor.extract_slice %arg2[%[[N]], 0, 0, 0] {{.*}} : tensor<?x1x?x?xi1> to tensor<?x?xi1>
// CHECK: attn.online {{.*}} where %[[M]] : tensor<?x?xi1> mode edge
// CHECK: attn.weigh {{.*}} where %[[M]] : tensor<?x?xi1> weights
func.func @f(%q: tensor<?x8x?x4xf32>, %k: tensor<?x8x?x4xf32>, %m: tensor<?x1x?x?xi1>) -> (tensor<?x8x?x4xf32>, tensor<?x8x?x?xf32>) {
  %o, %w = attn.sdpa %q, %k, %k scale 0.5 where %m : tensor<?x1x?x?xi1> returning(out, weights) {schedule = #s} : (tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>, tensor<?x8x?x4xf32>) -> (tensor<?x8x?x4xf32>, tensor<?x8x?x?xf32>)
  return %o, %w : tensor<?x8x?x4xf32>, tensor<?x8x?x?xf32>
}
