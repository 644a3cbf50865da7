// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// States get lanes and rows per item; sigmoid has no kernel for few queries.
// RUN: attn-opt %s --attn-set-target=facts=lanes=8,registers=16 --attn-assign-schedule | FileCheck %s

// CHECK-LABEL: @states
// CHECK: attn.merge_states {{.*}} {schedule = #attn.cpu_schedule<lanes = 8, {{.*}}query_tile = 128,
// CHECK: attn.finalize_state {{.*}} {schedule = #attn.cpu_schedule<lanes = 8, {{.*}}query_tile = 128,
// CHECK: attn.finalize_state {{.*}} {schedule = #attn.cpu_schedule<lanes = 2, {{.*}}query_tile = 4,
func.func @states(%m: tensor<8x?xf32>, %a: tensor<8x?x64xf32>) -> (tensor<8x?x64xf32>, tensor<8x?x64xf32>) {
  %r:3 = attn.merge_states %m, %m, %a with %m, %m, %a : tensor<8x?xf32>, tensor<8x?x64xf32>
  %o = attn.finalize_state %r#0, %r#1, %r#2 : (tensor<8x?xf32>, tensor<8x?xf32>, tensor<8x?x64xf32>) -> tensor<8x?x64xf32>
  %p = attn.finalize_state %m, %m, %a {schedule = #attn.cpu_schedule<lanes = 2, rows = 2, vectors = 1, query_tile = 4, key_tile = 2, unroll = 1, prefetch = 0>} : (tensor<8x?xf32>, tensor<8x?xf32>, tensor<8x?x64xf32>) -> tensor<8x?x64xf32>
  return %o, %p : tensor<8x?x64xf32>, tensor<8x?x64xf32>
}

// CHECK-LABEL: @f64
// CHECK: attn.finalize_state {{.*}} {schedule = #attn.cpu_schedule<lanes = 4,
func.func @f64(%m: tensor<5xf64>, %a: tensor<5x3xf64>) -> tensor<5x3xf64> {
  %o = attn.finalize_state %m, %m, %a : (tensor<5xf64>, tensor<5xf64>, tensor<5x3xf64>) -> tensor<5x3xf64>
  return %o : tensor<5x3xf64>
}

// CHECK-LABEL: @sigmoid
// CHECK-NOT: decode_schedule
// CHECK: return
func.func @sigmoid(%q: tensor<1x64xf32>, %k: tensor<?x64xf32>) -> tensor<1x64xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.125 {normalization = #attn<normalization sigmoid>} : (tensor<1x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<1x64xf32>
  return %o : tensor<1x64xf32>
}

// A returned state does not keep the kernel for few queries away.
// CHECK-LABEL: @state
// CHECK: decode_schedule
// CHECK: return
func.func @state(%q: tensor<1x64xf32>, %k: tensor<?x64xf32>) -> tensor<1x64xf32> {
  %r:4 = attn.sdpa %q, %k, %k scale 0.125 returning(out, state) : (tensor<1x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) -> (tensor<1x64xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1x64xf32>)
  return %r#3 : tensor<1x64xf32>
}
