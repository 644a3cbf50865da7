// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --target=sm_80 --compile-to=gpu-loops | FileCheck %s

// Five parts of 64 features and one of 16: two turns of a loop with two each, of which the second one copies what is next, whole or not, and two behind it.
// Sums of 16 bits are not rounded in between, and go through shared memory.
// CHECK-LABEL: gpu.func @parts_product(
// CHECK:         %[[ZERO:.*]] = tile.splat
// CHECK:         tile.copy_async {{.*}} memref<?x64xf16, {{.*}} to <128 x 64 x f16
// CHECK:         tile.copy_async {{.*}} memref<64x128xf16, {{.*}} to <64 x 128 x f16
// CHECK:         %[[L:.*]]:5 = scf.for %{{.*}} = %c0{{.*}} to %c2{{.*}} step %c1{{.*}} iter_args(%[[S:[a-z0-9]+]] = %[[ZERO]]
// CHECK:           %[[W0:.*]]:2, %{{.*}}:2 = tile.sync wait(
// CHECK-COUNT-2:   tile.copy_async
// CHECK:           %[[P:.*]] = tile.mma %[[W0]]#0, %[[W0]]#1, %[[S]]
// CHECK:           %[[W1:.*]]:2, %{{.*}}:2 = tile.sync wait(
// CHECK:           scf.if
// CHECK:             tile.copy_async {{.*}} memref<?x64xf16
// CHECK:           } else {
// CHECK:             tile.copy_async {{.*}} memref<?x16xf16
// CHECK:           %[[Q:.*]] = tile.mma %[[W1]]#0, %[[W1]]#1, %[[P]]
// CHECK:           scf.yield %[[Q]]
// CHECK:         tile.sync wait(
// CHECK:         tile.mma {{.*}}, %[[L]]#0
// CHECK:         tile.mma
// CHECK-NOT:     tile.mma
// CHECK:         tile.sync release(
// CHECK:         %[[ALL:.*]] = tile.reuse
// CHECK:         tile.store %{{.*}} to %{{.*}} through %[[ALL]]
func.func @parts(%x: tensor<4000x336xf16>, %w: tensor<336x512xf16>) -> tensor<4000x512xf16> {
  %0 = attn.project %x, %w : (tensor<4000x336xf16>, tensor<336x512xf16>) -> tensor<4000x512xf16>
  return %0 : tensor<4000x512xf16>
}

// Sums of f32 are rounded, and begin with the bias.
// CHECK-LABEL: gpu.func @f32_product(
// CHECK:         %[[BIAS:.*]] = tile.map
// CHECK:           memref.load
// CHECK:         tile.mma %{{.*}}, %{{.*}} transposed rounded, %[[BIAS]]
func.func @f32(%x: tensor<4x16xf32>, %w: tensor<16x16xf32>, %b: tensor<16xf32>) -> tensor<4x16xf32> {
  %0 = attn.project %x, %w transposed, %b : (tensor<4x16xf32>, tensor<16x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}
