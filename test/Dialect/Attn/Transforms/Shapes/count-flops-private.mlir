// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Only functions that a caller sees are counted; the attributes of ports stay
// with the function itself.
// RUN: attn-opt %s --attn-describe-ports --attn-count-flops | FileCheck %s

// CHECK-NOT: @hidden.flops
// CHECK-NOT: @declared.flops
// CHECK: func.func @shown({{.*}} attributes {attn.ports =
// CHECK: func.func private @shown.flops(
// CHECK-NOT: attn.ports
// CHECK-SAME: -> f64
// CHECK-NOT: @hidden.flops
func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
func.func private @hidden(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  return %x : tensor<?x4xf32>
}
func.func @shown(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  return %x : tensor<?x4xf32>
}
