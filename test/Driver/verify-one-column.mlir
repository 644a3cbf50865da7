// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: avx512f
// Values of one feature in f16, which LLVM 22 compiled wrongly as masked stores.
// RUN: attn-opt %s --target=x86-64-v4 --verify=1 --dim=q0=100 --dim=k0=100 | FileCheck %s
// CHECK: f: o: largest error
func.func @f(%q: tensor<?x64xf16>, %k: tensor<?x64xf16>, %v: tensor<?x1xf16>) -> (tensor<?x1xf16> {attn.name = "o"}) {
  %scores = attn.scores %q, %k : (tensor<?x64xf16>, tensor<?x64xf16>) -> tensor<?x?xf32>
  %scaled = attn.scale %scores by 0.125 : tensor<?x?xf32>
  %weights = attn.softmax %scaled : tensor<?x?xf32>
  %o = attn.context %weights, %v : (tensor<?x?xf32>, tensor<?x1xf16>) -> tensor<?x1xf16>
  return %o : tensor<?x1xf16>
}
