// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A size that is computed is compared with what other ops take it for; the first
// rule that does not hold says its number.
// RUN: attn-opt %s --attn-check-slices --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func.func private @first_four.slices
// CHECK-SAME: -> i32 attributes {attn.broken = ["arguments: computed sizes differ: 'tensor.extract_slice' at line [[#@LINE + 13]]",
// CHECK-SAME: "arguments: a slice lies outside of its tensor: 'tensor.extract_slice' at line [[#@LINE + 12]]"]}
// CHECK: %[[N:.*]] = tensor.dim %arg0, %c0
// CHECK: %[[M:.*]] = arith.minsi %[[N]], %c4
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[M]], %[[N]]
// CHECK: %[[SECOND:.*]] = arith.select %{{.*}}, %c0_i32, %c2_i32
// CHECK: %[[FIRST:.*]] = arith.select %[[SAME]], %[[SECOND]], %c1_i32
// CHECK: return %[[FIRST]]
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
// CHECK: arith.cmpi ne, %[[KEYS]], %[[VALUES]]
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

// Rows that are taken apart by sizes of another tensor are as many as these together.
// CHECK-LABEL: func.func private @apart.slices
// CHECK-DAG: %[[ROWS:.*]] = tensor.dim %arg0, %c0
// CHECK-DAG: %[[N:.*]] = tensor.dim %arg1, %c0
// CHECK-DAG: %[[M:.*]] = tensor.dim %arg1, %c1
// CHECK: %[[P:.*]] = arith.muli %[[N]], %[[M]]
// CHECK: arith.cmpi ne, %[[P]], %[[ROWS]]
func.func @apart(%x: tensor<?x8xf32>, %y: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %y, %c0 : tensor<?x?x8xf32>
  %m = tensor.dim %y, %c1 : tensor<?x?x8xf32>
  %z = tensor.expand_shape %x [[0, 1], [2]] output_shape [%n, %m, 8] : tensor<?x8xf32> into tensor<?x?x8xf32>
  return %z : tensor<?x?x8xf32>
}

// Nothing to ask where they are what was joined.
// CHECK-NOT: @joined_and_apart.slices
func.func @joined_and_apart(%x: tensor<?x4x?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x4x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x4x?x8xf32>
  %s = tensor.dim %x, %c2 : tensor<?x4x?x8xf32>
  %n = arith.muli %b, %c4 : index
  %one = tensor.splat %zero[%n, %s] : tensor<?x?x8xf32>
  %y = tensor.expand_shape %one [[0, 1], [2], [3]] output_shape [%b, 4, %s, 8] : tensor<?x?x8xf32> into tensor<?x4x?x8xf32>
  return %y : tensor<?x4x?x8xf32>
}

// A table in which elements say the place has a row, unless there is no element.
// CHECK-LABEL: func.func private @lookup.slices
// CHECK-DAG: %[[IDS:.*]] = tensor.dim %arg0, %c0
// CHECK-DAG: %[[ROWS:.*]] = tensor.dim %arg1, %c0
// CHECK-DAG: %[[SOME:.*]] = arith.cmpi sgt, %[[ROWS]], %c0
// CHECK-DAG: %[[NONE:.*]] = arith.cmpi eq, %[[IDS]], %c0
// CHECK: arith.ori %[[SOME]], %[[NONE]]
func.func @lookup(%ids: tensor<?xi64>, %t: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %ids, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%ids : tensor<?xi64>) outs(%e : tensor<?xf32>) {
  ^bb0(%p: i64, %o: f32):
    %at = arith.index_cast %p : i64 to index
    %v = tensor.extract %t[%at] : tensor<?xf32>
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %z : tensor<?xf32>
}

// Places that follow from the loop alone are the specification's own.
// CHECK-NOT: @reversed.slices
func.func @reversed(%t: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %t, %c0 : tensor<?xf32>
  %last = arith.subi %n, %c1 : index
  %e = tensor.empty(%n) : tensor<?xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<?xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %at = arith.subi %last, %i : index
    %v = tensor.extract %t[%at] : tensor<?xf32>
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %z : tensor<?xf32>
}
