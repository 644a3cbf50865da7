// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One query: a loop over batch, heads and parts of 64 keys that saves states, and
// one over batch and heads that combines them.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#d = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 8, key_tile = 16, unroll = 2, prefetch = 0, kind = decode, split_keys = 64>

// CHECK-LABEL: @one
// CHECK: %[[KEYS:.*]] = tensor.dim %arg1, %c2
// CHECK: %[[SPLITS:.*]] = arith.ceildivui %[[KEYS]], %c64
// CHECK: %[[EMPTY:.*]] = tensor.empty(%[[B:.*]], %[[SPLITS]]) : tensor<?x2x?x1x6xf32>
// CHECK: %[[PARTS:.*]] = scf.forall (%[[N:.*]], %[[H:.*]], %[[S:.*]]) in (%[[B]], 2, %[[SPLITS]]) shared_outs(%[[P:.*]] = %[[EMPTY]])
// CHECK: %[[FIRST:.*]] = arith.muli %[[S]], %c64
// CHECK: %[[LEFT:.*]] = arith.subi %[[KEYS]], %[[FIRST]]
// CHECK: %[[COUNT:.*]] = arith.minui %[[LEFT]], %c64
// CHECK: tensor.extract_slice %arg0[%[[N]], %[[H]], 0, 0] [1, 1, 1, 8]
// CHECK: %[[K:.*]] = tensor.extract_slice %arg1[%[[N]], %[[H]], %[[FIRST]], 0] [1, 1, %[[COUNT]], 8]
// CHECK: %[[V:.*]] = tensor.extract_slice %arg2[%[[N]], %[[H]], %[[FIRST]], 0] [1, 1, %[[COUNT]], 4]
// CHECK: %[[S0:.*]] = attn.init_state {{.*}} -> <8 x 8 x 4, f32, decode>
// CHECK: %[[S1:.*]] = attn.online %[[S0]], %[[K]], %[[V]] rows %c0 to %c1 keys from %[[FIRST]] lengths %c1, %[[KEYS]] mode full
// CHECK: attn.save_state %[[S1]]
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[P]][%[[N]], %[[H]], %[[S]], 0, 0]
// CHECK: scf.forall (%[[N2:.*]], %[[H2:.*]]) in (%[[B]], 2)
// CHECK: %[[OF:.*]] = tensor.extract_slice %[[PARTS]][%[[N2]], %[[H2]], 0, 0, 0] [1, 1, %[[SPLITS]], 1, 6]
// CHECK: attn.combine %[[OF]]
// CHECK-NOT: attn.finalize
func.func @one(%q: tensor<?x2x1x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x4xf32>) -> tensor<?x2x1x4xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.5 {decode_schedule = #d} : (tensor<?x2x1x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x4xf32>) -> tensor<?x2x1x4xf32>
  return %o : tensor<?x2x1x4xf32>
}
