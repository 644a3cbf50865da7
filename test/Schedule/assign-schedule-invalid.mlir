// RUN: attn-opt %s --attn-assign-schedule -verify-diagnostics
// RUN: sh -c 'attn-opt %s --emit=obj -o %t.o 2>/dev/null; echo status $?' | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A schedule for a GPU is the user's error where the target is a CPU.
// CHECK: status 1
func.func @for_gpu(%q: tensor<5x16xf16>) -> tensor<5x16xf16> {
  // expected-error @below {{expects schedule to be for a CPU on this target, but got #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 4>}}
  %out = attn.sdpa %q, %q, %q scale 0.25 {schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 32, warps = 4>}
      : (tensor<5x16xf16>, tensor<5x16xf16>, tensor<5x16xf16>) -> tensor<5x16xf16>
  return %out : tensor<5x16xf16>
}
