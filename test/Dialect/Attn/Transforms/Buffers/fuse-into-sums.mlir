// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --split-input-file --attn-fuse-into-sums | FileCheck %s

// A weighted sum of columns: no matrix of products.
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
// CHECK-DAG: #[[IJ:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[I:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[J:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: @weighted(
// CHECK-SAME: %[[X:.*]]: tensor<?x64xf32>, %[[W:.*]]: tensor<?xf32>
// CHECK-NOT: linalg.broadcast
// CHECK: linalg.generic {indexing_maps = [#[[IJ]], #[[I]], #[[J]]], iterator_types = ["reduction", "parallel"]} ins(%[[X]], %[[W]] : {{.*}})
// CHECK: %[[P:.*]] = arith.mulf
// CHECK: arith.addf %{{.*}}, %[[P]]
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @weighted(%x: tensor<?x64xf32>, %w: tensor<?xf32>, %e: tensor<?x64xf32>, %zero: tensor<64xf32>) -> tensor<64xf32> {
  %b = linalg.broadcast ins(%w : tensor<?xf32>) outs(%e : tensor<?x64xf32>) dimensions = [1]
  %p = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<?x64xf32>, tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %m = arith.mulf %a, %c : f32
    linalg.yield %m : f32
  } -> tensor<?x64xf32>
  %y = linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]} ins(%p : tensor<?x64xf32>) outs(%zero : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// -----

// What something else reads is computed once; a sum along rows, and one of a
// transpose, are left alone.
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
// CHECK-LABEL: @kept(
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} ["reduction", "parallel"]
// CHECK-NOT: math.exp
// CHECK: math.sin
// CHECK: linalg.generic {{.*}} ["parallel", "reduction"]
// CHECK-NOT: math.sin
// CHECK: linalg.transpose
// CHECK: return
func.func @kept(%x: tensor<8x64xf32>, %t: tensor<64x8xf32>, %e: tensor<8x64xf32>, %zero: tensor<64xf32>, %rows: tensor<8xf32>)
    -> (tensor<8x64xf32>, tensor<64xf32>, tensor<8xf32>, tensor<64xf32>) {
  %twice = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = math.exp %a : f32
    linalg.yield %m : f32
  } -> tensor<8x64xf32>
  %y = linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]} ins(%twice : tensor<8x64xf32>) outs(%zero : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %sin = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = math.sin %a : f32
    linalg.yield %m : f32
  } -> tensor<8x64xf32>
  %r = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%sin : tensor<8x64xf32>) outs(%rows : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %turned = linalg.transpose ins(%t : tensor<64x8xf32>) outs(%e : tensor<8x64xf32>) permutation = [1, 0]
  %z = linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]} ins(%turned : tensor<8x64xf32>) outs(%zero : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %twice, %y, %r, %z : tensor<8x64xf32>, tensor<64xf32>, tensor<8xf32>, tensor<64xf32>
}

// -----

// Sums of what lies in front have a loop with its bound from the result alone:
// MLIR would return the producer's result too.
// CHECK-LABEL: func.func @running(
// CHECK:         linalg.broadcast
// CHECK:         %[[P:.*]] = linalg.generic {{.*}}"parallel", "parallel"]}
// CHECK:         %[[S:.*]] = linalg.generic {{.*}} ins(%[[P]] :
// CHECK:         return %[[S]]
func.func @running(%x: tensor<?x32xf32>, %w: tensor<32xf32>, %e: tensor<?x32xf32>, %zero: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %cst = arith.constant 0.0 : f32
  %b = linalg.broadcast ins(%w : tensor<32xf32>) outs(%e : tensor<?x32xf32>) dimensions = [0]
  %p = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<?x32xf32>, tensor<?x32xf32>) outs(%e : tensor<?x32xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %m = arith.mulf %a, %c : f32
    linalg.yield %m : f32
  } -> tensor<?x32xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p : tensor<?x32xf32>) outs(%zero : tensor<?x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %at = linalg.index 0 : index
    %other = linalg.index 2 : index
    %counts = arith.cmpi ule, %other, %at : index
    %part = arith.select %counts, %a, %cst : f32
    %s = arith.addf %o, %part : f32
    linalg.yield %s : f32
  } -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}
