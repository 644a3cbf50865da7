// RUN: attn-opt %s --attn-tile-states --split-input-file --verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rows of an item are those of the schedule.

func.func @merge(%m: tensor<?xf32>, %a: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // expected-error@+1 {{'attn.merge_states' op has no schedule; run attn-assign-schedule before attn-tile-states}}
  %r:3 = attn.merge_states %m, %m, %a with %m, %m, %a : tensor<?xf32>, tensor<?x4xf32>
  return %r#2 : tensor<?x4xf32>
}

// -----

func.func @finalize(%m: tensor<?xf32>, %a: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // expected-error@+1 {{'attn.finalize_state' op has no schedule}}
  %o = attn.finalize_state %m, %m, %a : (tensor<?xf32>, tensor<?xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %o : tensor<?x4xf32>
}
