// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slices whose place has no bound that is known in front of the loops are looked
// at turn by turn, under the conditions that stand around them.
// RUN: attn-opt %s --attn-check-slices --canonicalize --cse | FileCheck %s

// A row of each sequence at a place of its own. An element that the argument
// does not have is -1, and the loop's own reads have a check.
// CHECK-LABEL: func.func private @rows.slices
// CHECK-DAG: %[[B:.*]] = tensor.dim %arg0, %c0
// CHECK-DAG: %[[P:.*]] = tensor.dim %arg2, %c0
// CHECK: scf.if %{{.*}} -> (i1) {
// CHECK: } else {
// CHECK: scf.for
// CHECK: scf.yield
// CHECK: %[[ALL:.*]] = scf.for %[[I:.*]] = %c0 to %[[B]] step %c1 iter_args(%[[OK:.*]] = %true) -> (i1) {
// CHECK:   tensor.dim %arg1, %c1
// CHECK:   %[[IS:.*]] = arith.cmpi ult, %[[I]], %[[P]]
// CHECK:   %[[AT:.*]] = scf.if %[[IS]] -> (i64) {
// CHECK:     tensor.extract %arg2[%[[I]]]
// CHECK:   } else {
// CHECK:     scf.yield %c-1_i64
// CHECK:   arith.index_cast %[[AT]]
// CHECK:   scf.yield
// CHECK: %[[BOTH:.*]] = arith.andi %{{.*}}, %[[ALL]]
// CHECK: arith.select %[[BOTH]], %c0_i32, %c3_i32
func.func @rows(%new: tensor<?x4xf32>, %cache: tensor<?x?x4xf32>, %at: tensor<?xi64>) -> tensor<?x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %new, %c0 : tensor<?x4xf32>
  %r = scf.for %i = %c0 to %b step %c1 iter_args(%c = %cache) -> tensor<?x?x4xf32> {
    %a = tensor.extract %at[%i] : tensor<?xi64>
    %p = arith.index_cast %a : i64 to index
    %row = tensor.extract_slice %new[%i, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<1x4xf32>
    %n = tensor.insert_slice %row into %c[0, %p, 0] [1, 1, 4] [1, 1, 1] : tensor<1x4xf32> into tensor<?x?x4xf32>
    scf.yield %n : tensor<?x?x4xf32>
  }
  return %r : tensor<?x?x4xf32>
}

// Nothing is asked where the slice fits in any case.
// CHECK-LABEL: func.func private @guarded.slices
// CHECK: %[[SOME:.*]] = tensor.extract %arg1[]
// CHECK: arith.cmpi sge, %{{.*}}, %c8
// CHECK-NEXT: %[[FITS:.*]] = arith.andi
// CHECK: scf.if %[[FITS]] -> (i1) {
// CHECK-NEXT: scf.yield %true
// CHECK: } else {
// CHECK: scf.if %[[SOME]] -> (i1) {
func.func @guarded(%x: tensor<?x8xf32>, %fits: tensor<i1>) -> tensor<?x8xf32> {
  %some = tensor.extract %fits[] : tensor<i1>
  %r = scf.if %some -> tensor<?x8xf32> {
    %row = tensor.extract_slice %x[7, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    scf.yield %x : tensor<?x8xf32>
  } else {
    scf.yield %x : tensor<?x8xf32>
  }
  return %r : tensor<?x8xf32>
}

// In the other branch of a condition on the counters of two loops; what the
// first branch reads fits by its bounds.
// CHECK-LABEL: func.func private @else.slices
// CHECK: scf.if
// CHECK:   scf.for %[[I:.*]] = %c0 to %c8
// CHECK:     scf.for %[[J:.*]] = %c0 to %c8
// CHECK:       %[[FIRST:.*]] = arith.cmpi slt, %[[I]], %[[J]]
// CHECK:       scf.if %[[FIRST]] -> (i1) {
// CHECK-NEXT:    scf.yield %true
// CHECK:       } else {
// CHECK:         arith.cmpi slt, %[[I]], %{{.*}}
// CHECK-NOT: scf.for
// CHECK: return
func.func @else(%x: tensor<?x8xf32>, %at: tensor<?xi64>) -> tensor<8x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %r = scf.forall (%i, %j) in (8, 8) shared_outs(%o = %e) -> tensor<8x8xf32> {
    %first = arith.cmpi slt, %i, %j : index
    %part = scf.if %first -> tensor<1x1xf32> {
      %a = tensor.extract_slice %o[%i, %j] [1, 1] [1, 1] : tensor<8x8xf32> to tensor<1x1xf32>
      scf.yield %a : tensor<1x1xf32>
    } else {
      %a = tensor.extract_slice %x[%i, %j] [1, 1] [1, 1] : tensor<?x8xf32> to tensor<1x1xf32>
      scf.yield %a : tensor<1x1xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %part into %o[%i, %j] [1, 1] [1, 1] : tensor<1x1xf32> into tensor<8x8xf32>
    }
  }
  return %r : tensor<8x8xf32>
}

// What a loop reads and writes at its counter: by bounds, or turn by turn.
// CHECK-LABEL: func.func private @counter.slices
// CHECK: %[[FITS:.*]] = arith.select
// CHECK: scf.if %[[FITS]] -> (i1) {
// CHECK-NEXT: scf.yield %true
// CHECK: } else {
// CHECK: scf.for
func.func @counter(%n: tensor<i64>, %x: tensor<?xi64>) -> tensor<?xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tensor.extract %n[] : tensor<i64>
  %m = arith.index_cast %a : i64 to index
  %r = scf.for %i = %c0 to %m step %c1 iter_args(%t = %x) -> (tensor<?xi64>) {
    %y = tensor.insert %a into %t[%i] : tensor<?xi64>
    scf.yield %y : tensor<?xi64>
  }
  return %r : tensor<?xi64>
}

// A place that the loop carries, and one that a computed tensor tells.
// CHECK-LABEL: func.func private @carried.slices
// CHECK-NEXT: %[[NONE:.*]] = arith.constant 0 : i32
// CHECK-NEXT: return %[[NONE]]
func.func @carried(%x: tensor<?x8xf32>, %at: tensor<8xi64>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %more = arith.addi %at, %at : tensor<8xi64>
  %r:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%y = %x, %p = %c0) -> (tensor<?x8xf32>, index) {
    %a = tensor.extract %at[%i] : tensor<8xi64>
    %step = arith.index_cast %a : i64 to index
    %next = arith.addi %p, %step : index
    %row = tensor.extract_slice %y[%p, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    %b = tensor.extract %more[%i] : tensor<8xi64>
    %q = arith.index_cast %b : i64 to index
    %z = tensor.insert_slice %row into %y[%q, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<?x8xf32>
    scf.yield %z, %next : tensor<?x8xf32>, index
  }
  return %r#0 : tensor<?x8xf32>
}

// Turns whose number a computed tensor tells are not asked for: not every such element is told by itself.
// CHECK-LABEL: func.func @computed
// CHECK-NOT: @computed.slices
func.func @computed(%n: tensor<4xi64>, %x: tensor<?xi64>) -> tensor<?xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %twice = scf.for %i = %c0 to %c1 step %c1 iter_args(%t = %n) -> tensor<4xi64> {
    %v = arith.addi %t, %t : tensor<4xi64>
    scf.yield %v : tensor<4xi64>
  }
  %a = tensor.extract %twice[%c0] : tensor<4xi64>
  %m = arith.index_cast %a : i64 to index
  %r = scf.for %i = %c0 to %m step %c1 iter_args(%t = %x) -> (tensor<?xi64>) {
    %y = tensor.insert %a into %t[%i] : tensor<?xi64>
    scf.yield %y : tensor<?xi64>
  }
  return %r : tensor<?xi64>
}
