// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.scale accepts; the numbers are those of docs/Spec.md.

func.func @scale_c1_negative(%s: tensor<2x3xf32>) {
  %r = attn.scale %s by -0.5 : tensor<2x3xf32>
  return
}

func.func @scale_c1_smallest(%s: tensor<2x3xf32>) {
  %r = attn.scale %s by 4.9406564584124654e-324 : tensor<2x3xf32>
  return
}

func.func @scale_c2_any_rank(%s: tensor<?xf16>) {
  %r = attn.scale %s by 2.0 : tensor<?xf16>
  return
}
