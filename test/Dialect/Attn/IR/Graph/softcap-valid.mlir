// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.softcap accepts; the numbers are those of docs/Spec.md.

func.func @softcap_c1_small(%s: tensor<4x5x6xf32>) {
  %r = attn.softcap %s at 0.001 : tensor<4x5x6xf32>
  return
}

func.func @softcap_c2_any_rank(%s: tensor<?xf64>) {
  %r = attn.softcap %s at 50.0 : tensor<?xf64>
  return
}
