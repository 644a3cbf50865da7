// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With and without a mask register tiles differ, and a state type belongs to one layout: as many queries as both
// could cut into one tile of their own compile side by side all the same.
// RUN: attn-opt %s --emit=asm --target=x86-64-v3 | FileCheck %s
// RUN: sed 's/48x8/?x8/g' %s | attn-opt --emit=asm --target=x86-64-v3 | FileCheck %s
// RUN: sed 's/48x8/144x8/g' %s | attn-opt --emit=asm --target=x86-64-v3 | FileCheck %s

// CHECK: both:
func.func @both(%q: tensor<48x8xf32>, %d: tensor<48x8xf64>) -> (tensor<48x8xf32>, tensor<48x8xf32>, tensor<48x8xf64>, tensor<48x8xf64>) {
  %o = attn.sdpa %q, %q, %q scale 0.125 : (tensor<48x8xf32>, tensor<48x8xf32>, tensor<48x8xf32>) -> tensor<48x8xf32>
  %p = attn.sdpa %q, %q, %q scale 0.125 where causal(top_left) : (tensor<48x8xf32>, tensor<48x8xf32>, tensor<48x8xf32>) -> tensor<48x8xf32>
  %r = attn.sdpa %d, %d, %d scale 0.125 : (tensor<48x8xf64>, tensor<48x8xf64>, tensor<48x8xf64>) -> tensor<48x8xf64>
  %s = attn.sdpa %d, %d, %d scale 0.125 where causal(top_left) : (tensor<48x8xf64>, tensor<48x8xf64>, tensor<48x8xf64>) -> tensor<48x8xf64>
  return %o, %p, %r, %s : tensor<48x8xf32>, tensor<48x8xf32>, tensor<48x8xf64>, tensor<48x8xf64>
}
