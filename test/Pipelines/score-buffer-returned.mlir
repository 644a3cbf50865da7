// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights that a function returns are the caller's buffer; the work space still has none, unless strides ask for a copy.
// RUN: attn-opt %s --compile-to=parallel --target=x86-64-v3 | FileCheck %s
// RUN: attn-opt %s --explain --target=x86-64-v3 | FileCheck %s --check-prefix=WORKSPACE
// CHECK: func.func private @f.kernel({{.*}}, %{{.*}}: memref<?x?xf32, strided<[?, ?], offset: ?>>, %{{.*}}: memref<?xi8>
// WORKSPACE: work space of f, in bytes:
// WORKSPACE-NEXT: {{^ *workers[*][0-9]+$}}
// WORKSPACE-NEXT: with a worker for each thread, or for each item where these are fewer, and a copy of each tensor of which the innermost stride is not 1
func.func @f(%q: tensor<?x64xf32>, %k: tensor<?x64xf32>, %v: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x?xf32>) {
  %s = attn.scores %q, %k : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x?xf32>
  %w = attn.softmax %s : tensor<?x?xf32>
  %o = attn.context %w, %v : (tensor<?x?xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  return %o, %w : tensor<?x64xf32>, tensor<?x?xf32>
}
