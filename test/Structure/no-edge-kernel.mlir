// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Without a mask there is no tile on the edge, and no code for one.
// RUN: attn-opt %s --emit=obj --target=x86-64-v3 -o %t.o
// RUN: llvm-nm --just-symbol-name %t.o | FileCheck %s --implicit-check-not=edge
// CHECK: f.online_full
func.func @f(%q: tensor<?x64xf32>, %k: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %o = attn.sdpa %q, %k, %k scale 0.125 : (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  return %o : tensor<?x64xf32>
}
