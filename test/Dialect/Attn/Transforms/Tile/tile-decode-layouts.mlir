// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heads behind the sequence: rows are gathered from where each head lies.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#d = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 8, key_tile = 16, unroll = 2, prefetch = 0, kind = decode, split_keys = 64>

// CHECK-LABEL: @bshd
// CHECK: scf.forall (%[[N:.*]], %[[G:.*]], %{{.*}}) in (3, 2, %{{.*}})
// CHECK: tensor.extract_slice %arg0[%[[N]], 0, %{{.*}}, 0] [1, 2, 1, 8]
// CHECK: tensor.extract_slice %arg1[%[[N]], %[[FIRST:.*]], %{{.*}}, 0] [1, %{{.*}}, 1, 8]
// CHECK: tensor.extract_slice %arg2[%[[N]], %{{.*}}, %[[FIRST]], 0] [1, 1, %{{.*}}, 4]
// CHECK: scf.forall (%[[N2:.*]], %[[H2:.*]]) in (3, 8)
// CHECK: tensor.parallel_insert_slice %{{.*}} into %{{.*}}[%[[N2]], 0, %[[H2]], 0] [1, 2, 1, 4]
func.func @bshd(%q: tensor<3x2x8x8xf32>, %k: tensor<3x?x2x8xf32>, %v: tensor<3x2x?x4xf32>) -> tensor<3x2x8x4xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.5 {decode_schedule = #d, query_layout = #attn<layout bshd>, key_layout = #attn<layout bshd>, out_layout = #attn<layout bshd>}
      : (tensor<3x2x8x8xf32>, tensor<3x?x2x8xf32>, tensor<3x2x?x4xf32>) -> tensor<3x2x8x4xf32>
  return %o : tensor<3x2x8x4xf32>
}
