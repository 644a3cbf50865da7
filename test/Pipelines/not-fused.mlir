// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A step that no fusion reached is refused by name, at its place.
// RUN: not attn-opt %s --compile-to=fused 2>&1 | FileCheck %s
// CHECK: not-fused.mlir:[[#@LINE+2]]:{{.*}} error: {{.*}}attn.softmax
func.func @f(%s: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %w = attn.softmax %s : tensor<4x5xf32>
  return %w : tensor<4x5xf32>
}
