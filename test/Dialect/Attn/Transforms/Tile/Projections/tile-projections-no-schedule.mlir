// RUN: attn-opt %s --attn-tile-projections --verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles are those of the schedule.
func.func @project(%x: tensor<?x4xf32>, %w: tensor<4x3xf32>) -> tensor<?x3xf32> {
  // expected-error@+1 {{'attn.project' op has no schedule for a CPU; run attn-assign-schedule before attn-tile-projections}}
  %y = attn.project %x, %w : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
