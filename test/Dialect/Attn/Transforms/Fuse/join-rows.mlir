// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Batch entries that share a weight become the rows of one product.
// RUN: attn-opt %s --attn-join-rows --remarks-filter-missed=attn-join-rows --remark-policy=all 2>&1 | FileCheck %s
// CHECK: remark: {{.*}}the entries of its batch are products of their own: its input is a slice or a tensor of the caller
// CHECK: remark: {{.*}}the entries of its batch are products of their own: its result is one of the function's

// Few rows, of tensors of the caller.
// CHECK-LABEL: func.func @few
// CHECK-DAG: %[[N:.*]] = tensor.dim %arg0
// CHECK-DAG: %[[X:.*]] = tensor.collapse_shape %arg0 {{\[}}[0, 1], [2]] : tensor<?x4x32xf32> into tensor<?x32xf32>
// CHECK: %[[Y:.*]] = attn.project %[[X]], %arg1, %arg2 {{.*}} -> tensor<?x64xf32>
// CHECK: tensor.expand_shape %[[Y]] {{\[}}[0, 1], [2]] output_shape [%[[N]], 4, 64]
func.func @few(%x: tensor<?x4x32xf32>, %w: tensor<32x64xf32>, %b: tensor<64xf32>) -> tensor<?x4x64xf32> {
  %y = attn.project %x, %w, %b : (tensor<?x4x32xf32>, tensor<32x64xf32>, tensor<64xf32>) -> tensor<?x4x64xf32>
  return %y : tensor<?x4x64xf32>
}

// Any number of rows between tensors of our own; unknown sizes, and a transposed weight.
// CHECK-LABEL: func.func @inner
// CHECK: tensor.collapse_shape
// CHECK: attn.project %{{.*}}, %arg1 transposed : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x?xf32>
// CHECK: tensor.expand_shape %{{.*}} output_shape [%{{.*}}, %{{.*}}, %{{.*}}]
func.func @inner(%x: tensor<?x?x32xf32>, %w: tensor<?x32xf32>, %g: tensor<?xf32>, %empty: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %n = attn.rms_norm %x eps 1.0e-6 : tensor<?x?x32xf32>
  %y = attn.project %n, %w transposed : (tensor<?x?x32xf32>, tensor<?x32xf32>) -> tensor<?x?x?xf32>
  %s = linalg.reduce ins(%y : tensor<?x?x?xf32>) outs(%empty : tensor<?x?xf32>) dimensions = [2]
      (%in: f32, %sum: f32) {
        %more = arith.addf %in, %sum : f32
        linalg.yield %more : f32
      }
  return %s : tensor<?x?xf32>
}

// These stay: a tensor of the caller, a result, one weight per entry, one row, one entry, a tile of rows.
// CHECK-LABEL: func.func @stay
// CHECK-NOT: tensor.collapse_shape
// CHECK: return
func.func @stay(%x: tensor<?x?x32xf32>, %few: tensor<?x4x32xf32>, %one: tensor<?x1x32xf32>, %entry: tensor<1x?x32xf32>, %many: tensor<?x96x32xf32>, %w: tensor<32x32xf32>, %ws: tensor<?x32x32xf32>)
    -> (tensor<?x?x32xf32>, tensor<?x?x32xf32>, tensor<?x4x32xf32>, tensor<?x1x32xf32>, tensor<1x?x32xf32>, tensor<?x96x32xf32>) {
  %a = attn.project %x, %w : (tensor<?x?x32xf32>, tensor<32x32xf32>) -> tensor<?x?x32xf32>
  %n = attn.rms_norm %x eps 1.0e-6 : tensor<?x?x32xf32>
  %p = attn.project %n, %w : (tensor<?x?x32xf32>, tensor<32x32xf32>) -> tensor<?x?x32xf32>
  %b = arith.addf %p, %n : tensor<?x?x32xf32>
  %c = attn.project %few, %ws : (tensor<?x4x32xf32>, tensor<?x32x32xf32>) -> tensor<?x4x32xf32>
  %d = attn.project %one, %w : (tensor<?x1x32xf32>, tensor<32x32xf32>) -> tensor<?x1x32xf32>
  %e = attn.project %entry, %w : (tensor<1x?x32xf32>, tensor<32x32xf32>) -> tensor<1x?x32xf32>
  %f = attn.project %many, %w : (tensor<?x96x32xf32>, tensor<32x32xf32>) -> tensor<?x96x32xf32>
  return %a, %b, %c, %d, %e, %f : tensor<?x?x32xf32>, tensor<?x?x32xf32>, tensor<?x4x32xf32>, tensor<?x1x32xf32>, tensor<1x?x32xf32>, tensor<?x96x32xf32>
}
