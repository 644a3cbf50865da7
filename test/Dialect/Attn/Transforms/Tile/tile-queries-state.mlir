// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The state of each row is written by an attn.return_state, acc in the layout of out.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @all
// CHECK: scf.forall (%[[N:.*]], %[[H:.*]], %{{.*}}) in ({{.*}}) shared_outs(%[[OUT:.*]] = %{{.*}}, %[[W:.*]] = %{{.*}}, %[[M:.*]] = %{{.*}}, %[[L:.*]] = %{{.*}}, %[[A:.*]] = %{{.*}})
// CHECK: %[[MR:.*]] = tensor.extract_slice %[[M]][%[[N]], %[[H]], %[[BEGIN:.*]]] [1, 1, %[[ROWS:.*]]] [1, 1, 1] : tensor<?x8x?xf32> to tensor<?xf32>
// CHECK: %[[LR:.*]] = tensor.extract_slice %[[L]][%[[N]], %[[H]], %[[BEGIN]]] [1, 1, %[[ROWS]]]
// CHECK: %[[AR:.*]] = tensor.extract_slice %[[A]][%[[N]], %[[BEGIN]], %[[H]], 0] [1, %[[ROWS]], 1, 4] [1, 1, 1, 1] : tensor<?x?x8x4xf32> to tensor<?x4xf32>
// CHECK: %[[S:.*]] = attn.online
// CHECK: attn.finalize %[[S]] outs(%{{.*}} : tensor<?x4xf16>)
// CHECK: %[[R:.*]]:3 = attn.return_state %[[S]] outs(%[[MR]], %[[LR]], %[[AR]] : tensor<?xf32>, tensor<?xf32>, tensor<?x4xf32>)
// CHECK: attn.weigh %[[S]]
// CHECK: tensor.parallel_insert_slice %[[R]]#0 into %[[M]][%[[N]], %[[H]], %[[BEGIN]]]
// CHECK: tensor.parallel_insert_slice %[[R]]#1 into %[[L]][%[[N]], %[[H]], %[[BEGIN]]]
// CHECK: tensor.parallel_insert_slice %[[R]]#2 into %[[A]][%[[N]], %[[BEGIN]], %[[H]], 0]
func.func @all(%q: tensor<?x8x?x4xf16>, %k: tensor<?x8x?x4xf16>) -> (tensor<?x?x8x4xf16>, tensor<?x8x?x?xf32>, tensor<?x8x?xf32>, tensor<?x8x?xf32>, tensor<?x?x8x4xf32>) {
  %r:5 = attn.sdpa %q, %k, %k scale 0.5 returning(out, weights, state) {schedule = #s, out_layout = #attn<layout bshd>}
      : (tensor<?x8x?x4xf16>, tensor<?x8x?x4xf16>, tensor<?x8x?x4xf16>) -> (tensor<?x?x8x4xf16>, tensor<?x8x?x?xf32>, tensor<?x8x?xf32>, tensor<?x8x?xf32>, tensor<?x?x8x4xf32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<?x?x8x4xf16>, tensor<?x8x?x?xf32>, tensor<?x8x?xf32>, tensor<?x8x?xf32>, tensor<?x?x8x4xf32>
}

// An out that nothing uses is not computed, and has no memory.
// CHECK-LABEL: @state_only
// CHECK: scf.forall {{.*}} shared_outs(%{{[a-z0-9]*}} = %{{[a-z0-9]*}}, %{{[a-z0-9]*}} = %{{[a-z0-9]*}}, %{{[a-z0-9]*}} = %{{[a-z0-9]*}})
// CHECK-NOT: attn.finalize
// CHECK: attn.return_state
// CHECK-NOT: attn.finalize
// CHECK: return
func.func @state_only(%q: tensor<2x?x4xf32>, %k: tensor<2x?x4xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?x4xf32>) {
  %r:4 = attn.sdpa %q, %k, %k scale 0.5 returning(out, state) {schedule = #s}
      : (tensor<2x?x4xf32>, tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> (tensor<2x?x4xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?x4xf32>)
  return %r#1, %r#2, %r#3 : tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?x4xf32>
}

// Without keys every state is empty.
// CHECK-LABEL: @no_keys
// CHECK-DAG: %[[NONE:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[M:.*]] = linalg.fill ins(%[[NONE]] : f32) {{.*}} -> tensor<5xf32>
// CHECK: %[[L:.*]] = linalg.fill ins(%[[ZERO]] : f32) {{.*}} -> tensor<5xf32>
// CHECK: %[[A:.*]] = linalg.fill ins(%[[ZERO]] : f32) {{.*}} -> tensor<5x4xf32>
// CHECK: return %[[M]], %[[L]], %[[A]]
func.func @no_keys(%q: tensor<5x4xf32>, %k: tensor<0x4xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5x4xf32>) {
  %r:4 = attn.sdpa %q, %k, %k scale 0.5 returning(out, state) {schedule = #s}
      : (tensor<5x4xf32>, tensor<0x4xf32>, tensor<0x4xf32>) -> (tensor<5x4xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5x4xf32>)
  return %r#1, %r#2, %r#3 : tensor<5xf32>, tensor<5xf32>, tensor<5x4xf32>
}

// A result that nobody reads is not written back as it is.
// CHECK-LABEL: @only_acc
// CHECK: %[[STATE:.*]]:3 = attn.return_state
// CHECK: return %[[STATE]]#2
func.func @only_acc(%q: tensor<5x4xf32>, %k: tensor<?x4xf32>) -> tensor<5x4xf32> {
  %r:4 = attn.sdpa %q, %k, %k scale 0.5 returning(out, state) {schedule = #s} : (tensor<5x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> (tensor<5x4xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5x4xf32>)
  return %r#3 : tensor<5x4xf32>
}
