// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A phase whose passes leave an op behind that should be gone fails and names both.
// RUN: mkdir -p %t && env TMPDIR=%t not attn-opt %s --compile-from=fused --compile-to=scheduled 2>&1 | FileCheck %s
// CHECK: check-phase.mlir:[[#@LINE+2]]:{{.*}} error: {{.*}}attn.softmax{{.*}}scheduled
func.func @f(%s: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %w = attn.softmax %s : tensor<4x5xf32>
  return %w : tensor<4x5xf32>
}
