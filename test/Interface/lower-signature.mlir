// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors become the caller's buffers, with any strides but the innermost; results
// become arguments, followed by work space, threads and call.
// RUN: attn-opt %s --attn-lower-signature | FileCheck %s

// CHECK: func.func private @f.kernel(%[[X:.*]]: memref<?x4xf32, strided<[?, 1], offset: ?>>, %[[N:.*]]: memref<i32>, %[[O:.*]]: memref<?x4xf32, strided<[?, 1], offset: ?>>, %{{.*}}: memref<?xi8>, %{{.*}}: index, %{{.*}}: !llvm.ptr)
// CHECK-SAME: attributes {attn.ports = []}
// CHECK: %[[T:.*]] = bufferization.to_tensor %[[X]] restrict
// CHECK: %[[Y:.*]] = attn.scale %[[T]]
// CHECK: bufferization.materialize_in_destination %[[Y]] in restrict writable %[[O]]
// CHECK: return{{$}}
func.func @f(%x: tensor<?x4xf32>, %n: tensor<i32>) -> tensor<?x4xf32> attributes {attn.ports = []} {
  %y = attn.scale %x by 0.5 : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
