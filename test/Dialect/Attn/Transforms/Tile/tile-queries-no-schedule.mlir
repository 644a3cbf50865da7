// RUN: attn-opt %s --attn-tile-queries --verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles are those of the schedule.
func.func @attention(%q: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // expected-error@+1 {{'attn.sdpa' op has no schedule; run attn-assign-schedule before attn-tile-queries}}
  %o = attn.sdpa %q, %q, %q scale 0.5 : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %o : tensor<?x4xf32>
}
