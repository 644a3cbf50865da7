// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A gate and a product with it share their memory: the second product reads and writes the same part. Sums of two norms begin with
// zeros of their own, and rows of joined entries stand in the arena of their batch.
// RUN: attn-opt %s --compile-to=buffers | FileCheck %s
// RUN: attn-opt %s --compile-to=parallel --explain -o /dev/null | FileCheck %s --check-prefix=ARENA

// CHECK-LABEL: func.func private @gated.kernel
// CHECK-NOT: memref.copy
// CHECK: attn.project_tile {{.*}} outs(%[[UP:[a-z_0-9]+]] :
// CHECK: attn.project_tile %{{.*}}, %{{.*}} with %[[PART:[a-z_0-9]+]] : {{.*}} epilogue
// CHECK: outs(%[[PART]] :
// CHECK-NOT: memref.copy
// CHECK: return
// ARENA: buffers between loops share {{[0-9]+}} bytes
// ARENA-NOT: buffers between loops share
func.func @gated(%x: tensor<?x?x48xf32>) -> tensor<?x?x48xf32> {
  %w = arith.constant dense<0.5> : tensor<48x96xf32>
  %v = arith.constant dense<0.25> : tensor<96x48xf32>
  %n = attn.rms_norm %x eps 1.0e-6 : tensor<?x?x48xf32>
  %h = attn.project %n, %w : (tensor<?x?x48xf32>, tensor<48x96xf32>) -> tensor<?x?x96xf32>
  %g = math.tanh %h : tensor<?x?x96xf32>
  %o = attn.rms_norm %n eps 1.0e-5 : tensor<?x?x48xf32>
  %u = attn.project %o, %w : (tensor<?x?x48xf32>, tensor<48x96xf32>) -> tensor<?x?x96xf32>
  %m = arith.mulf %g, %u : tensor<?x?x96xf32>
  %y = attn.project %m, %v : (tensor<?x?x96xf32>, tensor<96x48xf32>) -> tensor<?x?x48xf32>
  return %y : tensor<?x?x48xf32>
}
