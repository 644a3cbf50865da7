// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The factor keeps every bit of an f64.
// CHECK-LABEL: func @scores
// CHECK: attn.scale %{{.*}} by 5.000000e-01 : tensor<2x3xf32>
func.func @scores(%s: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = attn.scale %s by 0.5 : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func @negative
// CHECK: attn.scale %{{.*}} by -2.000000e+00 : tensor<?x?xf16>
func.func @negative(%s: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %r = attn.scale %s by -2.0 : tensor<?x?xf16>
  return %r : tensor<?x?xf16>
}

// One over the square root of 72 has no short decimal form.
// CHECK-LABEL: func @every_bit
// CHECK: attn.scale %{{.*}} by 0.11785113019775792 : tensor<2x3xf32>
func.func @every_bit(%s: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = attn.scale %s by 0.11785113019775792 : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
