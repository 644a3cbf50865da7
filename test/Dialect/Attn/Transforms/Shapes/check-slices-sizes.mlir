// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A size that is computed is compared with what other ops take it for.
// RUN: attn-opt %s --attn-check-slices --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func.func private @first_four.slices
// CHECK: %[[N:.*]] = tensor.dim %arg0, %c0
// CHECK: %[[M:.*]] = arith.minsi %[[N]], %c4
// CHECK: arith.cmpi eq, %[[M]], %[[N]]
func.func @first_four(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %m = arith.minsi %n, %c4 : index
  %s = tensor.extract_slice %x[0, 0] [%m, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
  %z = arith.addf %x, %s : tensor<?x8xf32>
  return %z : tensor<?x8xf32>
}

// Past and new keys are compared with the values' number.
// CHECK-LABEL: func.func private @joined.slices
// CHECK-DAG: %[[PAST:.*]] = tensor.dim %arg1, %c0
// CHECK-DAG: %[[NEW:.*]] = tensor.dim %arg2, %c0
// CHECK-DAG: %[[VALUES:.*]] = tensor.dim %arg3, %c0
// CHECK-DAG: %[[KEYS:.*]] = affine.apply #{{.*}}()[%[[PAST]], %[[NEW]]]
// CHECK: arith.cmpi eq, %[[KEYS]], %[[VALUES]]
func.func @joined(%q: tensor<?x8xf32>, %past: tensor<?x8xf32>, %new: tensor<?x8xf32>, %v: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %k = tensor.concat dim(0) %past, %new : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %o : tensor<?x8xf32>
}

// One computed size that nothing else has, or that is asked of what it meets.
// CHECK-NOT: @alone.slices
func.func @alone(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %one = arith.constant 1.0 : f32
  %ones = tensor.splat %one[%n] : tensor<?x8xf32>
  %both = tensor.concat dim(0) %x, %y : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %twice = arith.addf %both, %both : tensor<?x8xf32>
  %o = attn.sdpa %ones, %twice, %both scale 1.0 : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %o : tensor<?x8xf32>
}
