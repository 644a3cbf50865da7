// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The state of each row comes from the saved states of the parts.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#d = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 8, key_tile = 16, unroll = 2, prefetch = 0, kind = decode, split_keys = 64>

// CHECK-LABEL: @all
// CHECK: attn.save_state
// CHECK: scf.forall (%[[N:.*]], %[[H:.*]]) in (%{{.*}}, 2) shared_outs(%[[OUT:.*]] = %{{.*}}, %[[LSE:.*]] = %{{.*}}, %[[M:.*]] = %{{.*}}, %[[L:.*]] = %{{.*}}, %[[A:.*]] = %{{.*}})
// CHECK: %[[MR:.*]] = tensor.extract_slice %[[M]][%[[N]], %[[H]], 0] [1, 1, 1]
// CHECK: %[[LR:.*]] = tensor.extract_slice %[[L]][%[[N]], %[[H]], 0] [1, 1, 1]
// CHECK: %[[AR:.*]] = tensor.extract_slice %[[A]][%[[N]], %[[H]], 0, 0] [1, 1, 1, 4]
// CHECK: %[[PARTS:.*]] = tensor.extract_slice
// CHECK: %[[R:.*]]:2 = attn.combine %[[PARTS]]
// CHECK: %[[S:.*]]:3 = attn.combine_state %[[PARTS]] outs(%[[MR]], %[[LR]], %[[AR]] : tensor<1xf32>, tensor<1xf32>, tensor<1x4xf32>)
// CHECK: tensor.parallel_insert_slice %[[R]]#1 into %[[LSE]]
// CHECK: tensor.parallel_insert_slice %[[S]]#0 into %[[M]]
// CHECK: tensor.parallel_insert_slice %[[S]]#1 into %[[L]]
// CHECK: tensor.parallel_insert_slice %[[S]]#2 into %[[A]]
func.func @all(%q: tensor<?x2x1x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x4xf32>) -> (tensor<?x2x1x4xf32>, tensor<?x2x1xf32>, tensor<?x2x1xf32>, tensor<?x2x1xf32>, tensor<?x2x1x4xf32>) {
  %r:5 = attn.sdpa %q, %k, %v scale 0.5 returning(out, lse, state) {decode_schedule = #d}
      : (tensor<?x2x1x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x1x4xf32>, tensor<?x2x1xf32>, tensor<?x2x1xf32>, tensor<?x2x1xf32>, tensor<?x2x1x4xf32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<?x2x1x4xf32>, tensor<?x2x1xf32>, tensor<?x2x1xf32>, tensor<?x2x1xf32>, tensor<?x2x1x4xf32>
}

// An out that nothing uses is not computed.
// CHECK-LABEL: @state_only
// CHECK-NOT: attn.combine %
// CHECK: attn.combine_state
// CHECK-NOT: attn.combine %
// CHECK: return
func.func @state_only(%q: tensor<1x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x4xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1x4xf32>) {
  %r:4 = attn.sdpa %q, %k, %v scale 0.5 returning(out, state) {decode_schedule = #d}
      : (tensor<1x8xf32>, tensor<?x8xf32>, tensor<?x4xf32>) -> (tensor<1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1x4xf32>)
  return %r#1, %r#2, %r#3 : tensor<1xf32>, tensor<1xf32>, tensor<1x4xf32>
}
