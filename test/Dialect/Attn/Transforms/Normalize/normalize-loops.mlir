// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parallel loops begin at 0 with steps of 1, and have no negative number of items.
// RUN: attn-opt %s --attn-normalize-loops --canonicalize | FileCheck %s

// CHECK: #[[MAP:.*]] = affine_map<(d0) -> (d0 * 3 + 2)>
// CHECK-LABEL: func.func @known(
// CHECK: scf.forall (%[[J:.*]]) in (2)
// CHECK: %[[I:.*]] = affine.apply #[[MAP]](%[[J]])
// CHECK: tensor.extract_slice %{{.*}}[%[[I]]]
// CHECK: tensor.parallel_insert_slice %{{.*}} into %{{.*}}[%[[I]]]
func.func @known(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = scf.forall (%i) = (2) to (8) step (3) shared_outs(%o = %x) -> tensor<8xf32> {
    %s = tensor.extract_slice %x[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @unknown(
// CHECK-SAME: %[[FROM:[a-z0-9]+]]: index, %[[TO:[a-z0-9]+]]: index, %[[STEP:[a-z0-9]+]]: index)
// CHECK: %[[END:.*]] = arith.maxsi %[[FROM]], %[[TO]]
// CHECK: %[[COUNT:.*]] = affine.apply #{{.*}}()[%[[FROM]], %[[END]], %[[STEP]]]
// CHECK: scf.forall (%{{.*}}, %{{.*}}) in (4, %[[COUNT]])
func.func @unknown(%x: tensor<4x?xf32>, %from: index, %to: index, %step: index) -> tensor<4x?xf32> {
  %r = scf.forall (%i, %j) = (0, %from) to (4, %to) step (1, %step) shared_outs(%o = %x) -> tensor<4x?xf32> {
    %s = tensor.extract_slice %x[%i, %j] [1, 1] [1, 1] : tensor<4x?xf32> to tensor<1x1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, %j] [1, 1] [1, 1] : tensor<1x1xf32> into tensor<4x?xf32>
    }
  }
  return %r : tensor<4x?xf32>
}

// CHECK-LABEL: func.func @negative(
// CHECK-SAME: %[[N:[a-z0-9]+]]: index
// CHECK: %[[ROWS:.*]] = arith.maxsi %[[N]], %c0
// CHECK: %[[COLUMNS:.*]] = arith.maxsi %[[N]], %c0
// CHECK: scf.forall (%{{.*}}, %{{.*}}) in (%[[ROWS]], %[[COLUMNS]])
func.func @negative(%x: tensor<?x?xf32>, %n: index) -> tensor<?x?xf32> {
  %r = scf.forall (%i, %j) in (%n, %n) shared_outs(%o = %x) -> tensor<?x?xf32> {
    %s = tensor.extract_slice %x[%j, %i] [1, 1] [1, 1] : tensor<?x?xf32> to tensor<1x1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, %j] [1, 1] [1, 1] : tensor<1x1xf32> into tensor<?x?xf32>
    }
  }
  return %r : tensor<?x?xf32>
}
