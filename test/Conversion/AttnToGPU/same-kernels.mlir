// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels with the same code are one: the second and the third layer's. The first one reads, and the last one writes, the caller's memory, which has strides of its own.
// RUN: attn-opt %s --target=sm_80 --emit=ptx -o - | FileCheck %s

// CHECK-COUNT-3: .entry layers_attention
// CHECK-NOT:     .entry layers_attention
func.func @layers(%x: tensor<2x2x40x32xf16>) -> tensor<2x2x40x32xf16> {
  %b = attn.sdpa %x, %x, %x scale 0.2 : (tensor<2x2x40x32xf16>, tensor<2x2x40x32xf16>, tensor<2x2x40x32xf16>) -> tensor<2x2x40x32xf16>
  %t0 = math.tanh %b : tensor<2x2x40x32xf16>
  %c = attn.sdpa %t0, %t0, %t0 scale 0.2 : (tensor<2x2x40x32xf16>, tensor<2x2x40x32xf16>, tensor<2x2x40x32xf16>) -> tensor<2x2x40x32xf16>
  %t1 = math.tanh %c : tensor<2x2x40x32xf16>
  %d = attn.sdpa %t1, %t1, %t1 scale 0.2 : (tensor<2x2x40x32xf16>, tensor<2x2x40x32xf16>, tensor<2x2x40x32xf16>) -> tensor<2x2x40x32xf16>
  %t2 = math.tanh %d : tensor<2x2x40x32xf16>
  %e = attn.sdpa %t2, %t2, %t2 scale 0.2 : (tensor<2x2x40x32xf16>, tensor<2x2x40x32xf16>, tensor<2x2x40x32xf16>) -> tensor<2x2x40x32xf16>
  return %e : tensor<2x2x40x32xf16>
}
