// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results that nothing reads are not computed; out always is, and of a state all parts.
// RUN: attn-opt %s --attn-fuse | FileCheck %s
!t = tensor<?x16xf32>

// CHECK-LABEL: @weights
// CHECK: %[[OUT:.*]] = attn.sdpa %{{.*}}, %{{.*}}, %{{.*}} scale 5.000000e-01 where causal(top_left) : ({{.*}}) -> tensor<?x16xf32>
// CHECK: return %[[OUT]]
func.func @weights(%q: !t, %k: !t) -> !t {
  %o, %w = attn.sdpa %q, %k, %k scale 0.5 where causal(top_left) returning(out, weights) : (!t, !t, !t) -> (!t, tensor<?x?xf32>)
  return %o : !t
}

// CHECK-LABEL: @scores
// CHECK: %{{.*}}, %[[LSE:.*]] = attn.sdpa {{.*}} returning(out, lse) : ({{.*}}) -> (tensor<?x16xf32>, tensor<?xf32>)
// CHECK: return %[[LSE]]
func.func @scores(%q: !t, %k: !t) -> tensor<?xf32> {
  %o, %l, %s = attn.sdpa %q, %k, %k scale 0.5 returning(out, lse, scores) {scores_stage = #attn<scores_stage raw>} : (!t, !t, !t) -> (!t, tensor<?xf32>, tensor<?x?xf32>)
  return %l : tensor<?xf32>
}

// CHECK-LABEL: @state
// CHECK: returning(out, state)
func.func @state(%q: !t, %k: !t) -> (!t, tensor<?xf32>) {
  %o, %m, %l, %a = attn.sdpa %q, %k, %k scale 0.5 returning(out, state) : (!t, !t, !t) -> (!t, tensor<?xf32>, tensor<?xf32>, !t)
  return %o, %l : !t, tensor<?xf32>
}
