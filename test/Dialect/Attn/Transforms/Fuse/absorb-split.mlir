// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Query, key and value out of split heads are read with the sequence first.
// RUN: attn-opt %s --attn-absorb-heads | FileCheck %s

// CHECK-LABEL: @all(
// CHECK-NOT: attn.split_heads
// CHECK: %[[Q:.*]] = tensor.expand_shape %{{.*}} {{\[}}[0], [1], [2, 3]] output_shape [2, 5, 4, 16] : tensor<2x5x64xf32> into tensor<2x5x4x16xf32>
// CHECK: %[[K:.*]] = tensor.expand_shape
// CHECK: %[[V:.*]] = tensor.expand_shape
// CHECK: attn.sdpa %[[Q]], %[[K]], %[[V]] {{.*}}key_layout = {{[^,]*}}bshd>, query_layout = {{[^,]*}}bshd>, value_layout = {{[^,]*}}bshd>} : (tensor<2x5x4x16xf32>, tensor<2x5x4x16xf32>, tensor<2x5x4x16xf32>) -> tensor<2x4x5x16xf32>
func.func @all(%x: tensor<2x5x64xf32>, %y: tensor<2x5x64xf32>, %z: tensor<2x5x64xf32>) -> tensor<2x4x5x16xf32> {
  %q = attn.split_heads %x into 4 : tensor<2x5x64xf32> -> tensor<2x4x5x16xf32>
  %k = attn.split_heads %y into 4 : tensor<2x5x64xf32> -> tensor<2x4x5x16xf32>
  %v = attn.split_heads %z into 4 : tensor<2x5x64xf32> -> tensor<2x4x5x16xf32>
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>) -> tensor<2x4x5x16xf32>
  return %o : tensor<2x4x5x16xf32>
}

// CHECK-LABEL: @query_only(
// CHECK: attn.sdpa
// CHECK-SAME: query_layout = {{[^,]*}}bshd>} : (tensor<2x5x4x16xf32>, tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>)
func.func @query_only(%x: tensor<2x5x64xf32>, %k: tensor<2x4x5x16xf32>, %v: tensor<2x4x5x16xf32>) -> tensor<2x4x5x16xf32> {
  %q = attn.split_heads %x into 4 : tensor<2x5x64xf32> -> tensor<2x4x5x16xf32>
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>) -> tensor<2x4x5x16xf32>
  return %o : tensor<2x4x5x16xf32>
}

// CHECK-LABEL: @value_only(
// CHECK: attn.sdpa
// CHECK-SAME: {value_layout = {{[^,]*}}bshd>}
func.func @value_only(%q: tensor<2x4x5x16xf32>, %k: tensor<2x4x5x16xf32>, %x: tensor<2x5x64xf32>) -> tensor<2x4x5x16xf32> {
  %v = attn.split_heads %x into 4 : tensor<2x5x64xf32> -> tensor<2x4x5x16xf32>
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>) -> tensor<2x4x5x16xf32>
  return %o : tensor<2x4x5x16xf32>
}

// CHECK-LABEL: @one_for_all(
// CHECK-NOT: attn.split_heads
// CHECK: attn.sdpa
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @one_for_all(%x: tensor<2x5x64xf32>) -> tensor<2x4x5x16xf32> {
  %q = attn.split_heads %x into 4 : tensor<2x5x64xf32> -> tensor<2x4x5x16xf32>
  %o = attn.sdpa %q, %q, %q scale 1.0 : (tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>) -> tensor<2x4x5x16xf32>
  return %o : tensor<2x4x5x16xf32>
}
