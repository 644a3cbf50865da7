// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights that a function returns are the caller's buffer; the work space still has none.
// RUN: attn-opt %s --compile-to=parallel --target=x86-64-v3 | FileCheck %s
// CHECK: func.func private @f.workspace({{.*}}, %[[THREADS:.*]]: index) -> index
// CHECK-NEXT: %[[BYTES:.*]] = arith.constant
// CHECK-NEXT: arith.muli %[[THREADS]], %[[BYTES]]
// CHECK-NEXT: return
// CHECK: func.func private @f.kernel({{.*}}, %{{.*}}: memref<?x?xf32, strided<[?, 1], offset: ?>>, %{{.*}}: memref<?xi8>
func.func @f(%q: tensor<?x64xf32>, %k: tensor<?x64xf32>, %v: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x?xf32>) {
  %s = attn.scores %q, %k : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x?xf32>
  %w = attn.softmax %s : tensor<?x?xf32>
  %o = attn.context %w, %v : (tensor<?x?xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  return %o, %w : tensor<?x64xf32>, tensor<?x?xf32>
}
