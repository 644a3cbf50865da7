// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layout bshd: the sequence lies before the head; operands may differ.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f
// CHECK: scf.forall (%[[N:.*]], %[[H:.*]], %{{.*}}) in ({{.*}}, 8, {{.*}}) shared_outs(%[[OUT:.*]] = %{{.*}})
// CHECK: tensor.extract_slice %arg0[%[[N]], %[[BEGIN:.*]], %[[H]], 0] [1, %[[ROWS:.*]], 1, 4]
// CHECK: tensor.extract_slice %arg1[%[[N]], 0, %[[H]], 0] [1, %{{.*}}, 1, 4]
// CHECK: tensor.extract_slice %arg2[%[[N]], %[[H]], 0, 0] [1, 1, %{{.*}}, 6]
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[OUT]][%[[N]], %[[BEGIN]], %[[H]], 0] [1, %[[ROWS]], 1, 6]
func.func @f(%q: tensor<?x?x8x4xf32>, %k: tensor<?x?x8x4xf32>, %v: tensor<?x8x?x6xf32>) -> tensor<?x?x8x6xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.5 {schedule = #s, query_layout = #attn<layout bshd>, key_layout = #attn<layout bshd>, out_layout = #attn<layout bshd>}
      : (tensor<?x?x8x4xf32>, tensor<?x?x8x4xf32>, tensor<?x8x?x6xf32>) -> tensor<?x?x8x6xf32>
  return %o : tensor<?x?x8x6xf32>
}
