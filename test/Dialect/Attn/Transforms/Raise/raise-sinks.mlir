// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A column more in the scores, which goes behind the softmax, is the sinks of an
// attention.
// RUN: attn-opt %s --attn-raise-attention --canonicalize --split-input-file | FileCheck %s

// A column per head behind the scores, which goes behind the softmax, is the
// sinks; without the maximum of a row softmax is the same.
// CHECK-LABEL: @sinks
// CHECK: %[[N:.*]] = tensor.collapse_shape %arg3 {{.*}} : tensor<4x1xf32> into tensor<4xf32>
// CHECK: %[[W:.*]] = attn.softmax %{{.*}} sinks %[[N]] : tensor<4xf32> : tensor<4x9x9xf32>
// CHECK: attn.context %[[W]]
// CHECK-NOT: tensor.concat
func.func @sinks(%q: tensor<4x9x16xf32>, %k: tensor<4x16x9xf32>, %v: tensor<4x9x8xf32>, %sink: tensor<4x1xf32>) -> tensor<4x9x8xf32> {
  %z = arith.constant dense<0.0> : tensor<4x9x9xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<4x9x16xf32>, tensor<4x16x9xf32>) outs(%z : tensor<4x9x9xf32>) -> tensor<4x9x9xf32>
  %ec = tensor.empty() : tensor<4x9x1xf32>
  %column = linalg.broadcast ins(%sink : tensor<4x1xf32>) outs(%ec : tensor<4x9x1xf32>) dimensions = [1]
  %c = tensor.concat dim(2) %s, %column : (tensor<4x9x9xf32>, tensor<4x9x1xf32>) -> tensor<4x9x10xf32>
  %low = arith.constant dense<0xFF800000> : tensor<4x9xf32>
  %m = linalg.reduce { arith.maximumf } ins(%c : tensor<4x9x10xf32>) outs(%low : tensor<4x9xf32>) dimensions = [2]
  %e = tensor.empty() : tensor<4x9x10xf32>
  %mb = linalg.broadcast ins(%m : tensor<4x9xf32>) outs(%e : tensor<4x9x10xf32>) dimensions = [2]
  %d = arith.subf %c, %mb : tensor<4x9x10xf32>
  %w = linalg.softmax dimension(2) ins(%d : tensor<4x9x10xf32>) outs(%e : tensor<4x9x10xf32>) -> tensor<4x9x10xf32>
  %y = tensor.extract_slice %w[0, 0, 0] [4, 9, 9] [1, 1, 1] : tensor<4x9x10xf32> to tensor<4x9x9xf32>
  %zo = arith.constant dense<0.0> : tensor<4x9x8xf32>
  %o = linalg.batch_matmul ins(%y, %v : tensor<4x9x9xf32>, tensor<4x9x8xf32>) outs(%zo : tensor<4x9x8xf32>) -> tensor<4x9x8xf32>
  return %o : tensor<4x9x8xf32>
}

// -----

// A constant is the sink of each head,
// CHECK-LABEL: @constant_sink
// CHECK: %[[N:.*]] = arith.constant dense<5.000000e-01> : tensor<4xf32>
// CHECK: attn.softmax %{{.*}} sinks %[[N]]
// CHECK-NOT: tensor.concat
func.func @constant_sink(%q: tensor<4x9x16xf32>, %k: tensor<4x16x9xf32>, %v: tensor<4x9x8xf32>) -> tensor<4x9x8xf32> {
  %z = arith.constant dense<0.0> : tensor<4x9x9xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<4x9x16xf32>, tensor<4x16x9xf32>) outs(%z : tensor<4x9x9xf32>) -> tensor<4x9x9xf32>
  %column = arith.constant dense<0.5> : tensor<4x9x1xf32>
  %c = tensor.concat dim(2) %s, %column : (tensor<4x9x9xf32>, tensor<4x9x1xf32>) -> tensor<4x9x10xf32>
  %e = tensor.empty() : tensor<4x9x10xf32>
  %w = linalg.softmax dimension(2) ins(%c : tensor<4x9x10xf32>) outs(%e : tensor<4x9x10xf32>) -> tensor<4x9x10xf32>
  %y = tensor.extract_slice %w[0, 0, 0] [4, 9, 9] [1, 1, 1] : tensor<4x9x10xf32> to tensor<4x9x9xf32>
  %zo = arith.constant dense<0.0> : tensor<4x9x8xf32>
  %o = linalg.batch_matmul ins(%y, %v : tensor<4x9x9xf32>, tensor<4x9x8xf32>) outs(%zo : tensor<4x9x8xf32>) -> tensor<4x9x8xf32>
  return %o : tensor<4x9x8xf32>
}

// -----

// and so is one number of an argument.
// CHECK-LABEL: @shared_sink
// CHECK: %[[ONE:.*]] = tensor.collapse_shape %arg3 [] : tensor<1xf32> into tensor<f32>
// CHECK: %[[N:.*]] = linalg.broadcast ins(%[[ONE]] : tensor<f32>) outs(%{{.*}} : tensor<4xf32>) dimensions = [0]
// CHECK: attn.softmax %{{.*}} sinks %[[N]]
// CHECK-NOT: tensor.concat
func.func @shared_sink(%q: tensor<4x9x16xf32>, %k: tensor<4x16x9xf32>, %v: tensor<4x9x8xf32>, %sink: tensor<1xf32>) -> tensor<4x9x8xf32> {
  %z = arith.constant dense<0.0> : tensor<4x9x9xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<4x9x16xf32>, tensor<4x16x9xf32>) outs(%z : tensor<4x9x9xf32>) -> tensor<4x9x9xf32>
  %ec = tensor.empty() : tensor<4x9x1xf32>
  %column = linalg.broadcast ins(%sink : tensor<1xf32>) outs(%ec : tensor<4x9x1xf32>) dimensions = [0, 1]
  %c = tensor.concat dim(2) %s, %column : (tensor<4x9x9xf32>, tensor<4x9x1xf32>) -> tensor<4x9x10xf32>
  %e = tensor.empty() : tensor<4x9x10xf32>
  %w = linalg.softmax dimension(2) ins(%c : tensor<4x9x10xf32>) outs(%e : tensor<4x9x10xf32>) -> tensor<4x9x10xf32>
  %y = tensor.extract_slice %w[0, 0, 0] [4, 9, 9] [1, 1, 1] : tensor<4x9x10xf32> to tensor<4x9x9xf32>
  %zo = arith.constant dense<0.0> : tensor<4x9x8xf32>
  %o = linalg.batch_matmul ins(%y, %v : tensor<4x9x9xf32>, tensor<4x9x8xf32>) outs(%zo : tensor<4x9x8xf32>) -> tensor<4x9x8xf32>
  return %o : tensor<4x9x8xf32>
}

// -----

// Zeros in front that padding adds are sinks, too.
// CHECK-LABEL: @padded
// CHECK: %[[N:.*]] = arith.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK: attn.softmax %{{.*}} sinks %[[N]]
// CHECK-NOT: tensor.pad
func.func @padded(%q: tensor<4x9x16xf32>, %k: tensor<4x16x9xf32>, %v: tensor<4x9x8xf32>) -> tensor<4x9x8xf32> {
  %z = arith.constant dense<0.0> : tensor<4x9x9xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<4x9x16xf32>, tensor<4x16x9xf32>) outs(%z : tensor<4x9x9xf32>) -> tensor<4x9x9xf32>
  %zero = arith.constant 0.0 : f32
  %c = tensor.pad %s low[0, 0, 1] high[0, 0, 0] {
  ^bb0(%b: index, %i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x9x9xf32> to tensor<4x9x10xf32>
  %e = tensor.empty() : tensor<4x9x10xf32>
  %w = linalg.softmax dimension(2) ins(%c : tensor<4x9x10xf32>) outs(%e : tensor<4x9x10xf32>) -> tensor<4x9x10xf32>
  %y = tensor.extract_slice %w[0, 0, 1] [4, 9, 9] [1, 1, 1] : tensor<4x9x10xf32> to tensor<4x9x9xf32>
  %zo = arith.constant dense<0.0> : tensor<4x9x8xf32>
  %o = linalg.batch_matmul ins(%y, %v : tensor<4x9x9xf32>, tensor<4x9x8xf32>) outs(%zo : tensor<4x9x8xf32>) -> tensor<4x9x8xf32>
  return %o : tensor<4x9x8xf32>
}

// -----

// Fewer columns than there are keys are no attention with sinks.
// CHECK-LABEL: @fewer_columns
// CHECK-NOT: attn.softmax
func.func @fewer_columns(%q: tensor<4x9x16xf32>, %k: tensor<4x16x9xf32>, %v: tensor<4x8x8xf32>, %sink: tensor<4x1xf32>) -> tensor<4x9x8xf32> {
  %z = arith.constant dense<0.0> : tensor<4x9x9xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<4x9x16xf32>, tensor<4x16x9xf32>) outs(%z : tensor<4x9x9xf32>) -> tensor<4x9x9xf32>
  %ec = tensor.empty() : tensor<4x9x1xf32>
  %column = linalg.broadcast ins(%sink : tensor<4x1xf32>) outs(%ec : tensor<4x9x1xf32>) dimensions = [1]
  %c = tensor.concat dim(2) %s, %column : (tensor<4x9x9xf32>, tensor<4x9x1xf32>) -> tensor<4x9x10xf32>
  %e = tensor.empty() : tensor<4x9x10xf32>
  %w = linalg.softmax dimension(2) ins(%c : tensor<4x9x10xf32>) outs(%e : tensor<4x9x10xf32>) -> tensor<4x9x10xf32>
  %y = tensor.extract_slice %w[0, 0, 0] [4, 9, 8] [1, 1, 1] : tensor<4x9x10xf32> to tensor<4x9x8xf32>
  %zo = arith.constant dense<0.0> : tensor<4x9x8xf32>
  %o = linalg.batch_matmul ins(%y, %v : tensor<4x9x8xf32>, tensor<4x8x8xf32>) outs(%zo : tensor<4x9x8xf32>) -> tensor<4x9x8xf32>
  return %o : tensor<4x9x8xf32>
}
