// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors that a loop yields are put where its arguments lie; one that is passed on
// as it is stays, and so does what is no tensor.
// RUN: attn-opt %s --attn-yield-into-arguments | FileCheck %s

// CHECK-LABEL: @layers
// CHECK: scf.for {{.*}} iter_args(%[[X:.*]] = %arg0, %[[K:.*]] = %arg1, %{{.*}} = %{{.*}})
// CHECK: %[[Y:.*]] = arith.addf
// CHECK: %[[NEXT:.*]] = bufferization.materialize_in_destination %[[Y]] in %[[X]]
// CHECK: scf.yield %[[NEXT]], %[[K]], %{{.*}}
func.func @layers(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %n: index) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %q, %key = %k, %s = %c0) -> (tensor<?x8xf32>, tensor<?x8xf32>, index) {
    %y = arith.addf %x, %x : tensor<?x8xf32>
    %t = arith.addi %s, %i : index
    scf.yield %y, %key, %t : tensor<?x8xf32>, tensor<?x8xf32>, index
  }
  return %r#0 : tensor<?x8xf32>
}

// Elements that are written one by one lie there already, in loops in loops as
// well; unless what they were before is read later.
// CHECK-LABEL: @histogram
// CHECK-NOT: materialize_in_destination
// CHECK: return
func.func @histogram(%at: tensor<?xindex>, %sums: tensor<9x4xf32>, %n: index) -> tensor<9x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %sums) -> tensor<9x4xf32> {
    %row = scf.for %j = %c0 to %c4 step %c1 iter_args(%b = %a) -> tensor<9x4xf32> {
      %place = tensor.extract %at[%i] : tensor<?xindex>
      %old = tensor.extract %b[%place, %j] : tensor<9x4xf32>
      %more = arith.addf %old, %one : f32
      %new = tensor.insert %more into %b[%place, %j] : tensor<9x4xf32>
      scf.yield %new : tensor<9x4xf32>
    }
    scf.yield %row : tensor<9x4xf32>
  }
  return %r : tensor<9x4xf32>
}

// CHECK-LABEL: @read_later
// CHECK: %[[TWICE:.*]] = tensor.insert
// CHECK: materialize_in_destination %[[TWICE]]
func.func @read_later(%x: tensor<9xf32>, %n: index) -> tensor<9xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<9xf32> {
    %first = tensor.insert %one into %a[%c0] : tensor<9xf32>
    %old = tensor.extract %a[%c0] : tensor<9xf32>
    %twice = tensor.insert %old into %first[%i] : tensor<9xf32>
    scf.yield %twice : tensor<9xf32>
  }
  return %r : tensor<9xf32>
}

// What is another argument is copied where the turn begins, and put behind what is computed.
// CHECK-LABEL: @moved
// CHECK:      %[[EMPTY:.*]] = tensor.empty() : tensor<4xf32>
// CHECK:      scf.for {{.*}} iter_args(%[[X:.*]] = %arg0, %[[Y:.*]] = %arg1)
// CHECK-NEXT:   %[[COPY:.*]] = linalg.copy ins(%[[Y]] : tensor<4xf32>) outs(%[[EMPTY]] : tensor<4xf32>)
// CHECK-NEXT:   %[[U:.*]] = arith.addf %[[X]], %[[Y]]
// CHECK-NEXT:   %[[SECOND:.*]] = bufferization.materialize_in_destination %[[U]] in %[[Y]]
// CHECK-NEXT:   %[[FIRST:.*]] = bufferization.materialize_in_destination %[[COPY]] in %[[X]]
// CHECK-NEXT:   scf.yield %[[FIRST]], %[[SECOND]]
func.func @moved(%a: tensor<4xf32>, %b: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (tensor<4xf32>, tensor<4xf32>) {
    %u = arith.addf %x, %y : tensor<4xf32>
    scf.yield %y, %u : tensor<4xf32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// One that both become is computed in the first place.
// CHECK-LABEL: @twice
// CHECK:      scf.for {{.*}} iter_args(%[[X:.*]] = %arg0, %[[Y:.*]] = %arg1)
// CHECK-NEXT:   %[[U:.*]] = arith.addf %[[X]], %[[Y]]
// CHECK-NEXT:   %[[FIRST:.*]] = bufferization.materialize_in_destination %[[U]] in %[[X]]
// CHECK-NEXT:   %[[SECOND:.*]] = bufferization.materialize_in_destination %[[FIRST]] in %[[Y]]
// CHECK-NEXT:   scf.yield %[[FIRST]], %[[SECOND]]
func.func @twice(%a: tensor<4xf32>, %b: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (tensor<4xf32>, tensor<4xf32>) {
    %u = arith.addf %x, %y : tensor<4xf32>
    scf.yield %u, %u : tensor<4xf32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// The condition of an scf.while passes all arguments on, tensors first, each at its
// own place.
// CHECK-LABEL: @until
// CHECK: scf.while (%[[X:.*]] = %arg0, %[[K:.*]] = %arg1, %[[GO:.*]] = %{{.*}}, %[[I:.*]] = %{{.*}}) : (tensor<?x8xf32>, tensor<?x8xf32>, i1, index) -> (tensor<?x8xf32>, tensor<?x8xf32>, i1, index, index)
// CHECK: %[[TWICE:.*]] = arith.addi %[[I]], %[[I]]
// CHECK: scf.condition(%[[GO]]) %[[X]], %[[K]], %[[GO]], %[[I]], %[[TWICE]]
// CHECK: ^bb0(%[[X:.*]]: tensor<?x8xf32>, %[[K:.*]]: tensor<?x8xf32>, %{{.*}}: i1, %[[I:.*]]: index, %[[TWICE:.*]]: index):
// CHECK: %[[Y:.*]] = arith.addf %[[X]], %[[K]]
// CHECK: %[[J:.*]] = arith.addi %[[I]], %[[TWICE]]
// CHECK: %[[MORE:.*]] = arith.cmpi
// CHECK: %[[NEXT:.*]] = bufferization.materialize_in_destination %[[Y]] in %[[X]]
// CHECK: scf.yield %[[NEXT]], %[[K]], %[[MORE]], %[[J]]
func.func @until(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %n: index) -> (index, tensor<?x8xf32>) {
  %c1 = arith.constant 1 : index
  %true = arith.constant true
  %r:4 = scf.while (%go = %true, %i = %c1, %x = %q, %key = %k) : (i1, index, tensor<?x8xf32>, tensor<?x8xf32>) -> (index, index, tensor<?x8xf32>, tensor<?x8xf32>) {
    %twice = arith.addi %i, %i : index
    scf.condition(%go) %twice, %i, %x, %key : index, index, tensor<?x8xf32>, tensor<?x8xf32>
  } do {
  ^bb0(%twice: index, %i: index, %x: tensor<?x8xf32>, %key: tensor<?x8xf32>):
    %y = arith.addf %x, %key : tensor<?x8xf32>
    %j = arith.addi %i, %twice : index
    %more = arith.cmpi slt, %j, %n : index
    scf.yield %more, %j, %y, %key : i1, index, tensor<?x8xf32>, tensor<?x8xf32>
  }
  return %r#1, %r#2 : index, tensor<?x8xf32>
}
