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
