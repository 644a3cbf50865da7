// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A size comes from sizes of arguments, loop counters or the first element of an
// argument; any other is refused at the op that has it.
// RUN: attn-opt %s --attn-check-unknown-sizes --split-input-file --verify-diagnostics

func.func @arguments(%x: tensor<?x8xf32>, %count: tensor<i64>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %half = arith.ceildivui %n, %c1 : index
  %y = scf.for %i = %c0 to %half step %c1 iter_args(%a = %x) -> tensor<?x8xf32> {
    %part = tensor.extract_slice %a[0, 0] [%i, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
    %b = tensor.insert_slice %part into %a[0, 0] [%i, 8] [1, 1] : tensor<?x8xf32> into tensor<?x8xf32>
    scf.yield %b : tensor<?x8xf32>
  }
  %l = tensor.extract %count[] : tensor<i64>
  %k = arith.index_cast %l : i64 to index
  %z = tensor.extract_slice %y[0, 0] [%k, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
  return %z : tensor<?x8xf32>
}

// -----
func.func @other_element(%x: tensor<?x8xf32>, %counts: tensor<4xi64>) -> tensor<?x8xf32> {
  %c3 = arith.constant 3 : index
  %l = tensor.extract %counts[%c3] : tensor<4xi64>
  %k = arith.index_cast %l : i64 to index
  // expected-error @+1 {{'tensor.extract_slice' op expects sizes that follow from the arguments, but got one that 'tensor.extract' tells}}
  %z = tensor.extract_slice %x[0, 0] [%k, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
  return %z : tensor<?x8xf32>
}

// -----
func.func @computed(%x: tensor<?x8xf32>, %n: index) -> tensor<?x8xf32> {
  %c1 = arith.constant 1 : index
  %k = scf.while (%i = %c1) : (index) -> index {
    %more = arith.cmpi ult, %i, %n : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    %next = arith.addi %i, %i : index
    scf.yield %next : index
  }
  // expected-error @+1 {{'tensor.empty' op expects sizes that follow from the arguments, but got one that 'scf.while' tells}}
  %z = tensor.empty(%k) : tensor<?x8xf32>
  return %z : tensor<?x8xf32>
}

// -----
func.func @swapped(%x: tensor<?x8xf32>, %n: index) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = math.exp %x : tensor<?x8xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
    %s = arith.addf %a, %b : tensor<?x8xf32>
    scf.yield %b, %s : tensor<?x8xf32>, tensor<?x8xf32>
  }
  return %r#0, %r#1 : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----
func.func @grows(%x: tensor<?x8xf32>, %n: index) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'scf.for' op expects turns that keep the sizes of its tensors, but dimension 0 of the yielded value 0 may be another one}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<?x8xf32> {
    %b = tensor.concat dim(0) %a, %x : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    scf.yield %b : tensor<?x8xf32>
  }
  return %r : tensor<?x8xf32>
}

// -----
func.func @another(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>, %n: index) -> tensor<?x8xf32> {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'scf.while' op expects turns that keep the sizes of its tensors, but dimension 0 of the yielded value 1 may be another one}}
  %r:2 = scf.while (%i = %c1, %a = %x) : (index, tensor<?x8xf32>) -> (index, tensor<?x8xf32>) {
    %more = arith.cmpi ult, %i, %n : index
    scf.condition(%more) %i, %a : index, tensor<?x8xf32>
  } do {
  ^bb0(%i: index, %a: tensor<?x8xf32>):
    %next = arith.addi %i, %c1 : index
    %b = math.exp %y : tensor<?x8xf32>
    scf.yield %next, %b : index, tensor<?x8xf32>
  }
  return %r#1 : tensor<?x8xf32>
}
