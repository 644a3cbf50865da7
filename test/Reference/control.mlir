// RUN: attn-reference %s | FileCheck %s
// Loops, branches and calls.

// CHECK-LABEL: @loops
// CHECK-NEXT: 18
// CHECK-NEXT: 64
// CHECK-NEXT: 1
func.func @loops() -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c10 = arith.constant 10 : index
  %c50 = arith.constant 50 : index
  // 0 + 3 + 6 + 9
  %sum = scf.for %i = %c0 to %c10 step %c3 iter_args(%s = %c0) -> (index) {
    %n = arith.addi %s, %i : index
    scf.yield %n : index
  }
  // The first power of two above 50.
  %power = scf.while (%p = %c1) : (index) -> index {
    %small = arith.cmpi sle, %p, %c50 : index
    scf.condition(%small) %p : index
  } do {
  ^bb0(%p: index):
    %d = arith.addi %p, %p : index
    scf.yield %d : index
  }
  %less = arith.cmpi slt, %c3, %c10 : index
  %which = scf.if %less -> index {
    scf.yield %c1 : index
  } else {
    scf.yield %c0 : index
  }
  return %sum, %power, %which : index, index, index
}

// An item of a parallel loop sees what was there before the loop (-1), not what
// other items insert.
// CHECK-LABEL: @parallel
// CHECK-NEXT: [-1, 0, 1, 2, 3, -1]
// CHECK-NEXT: [-1, -1, -1, -1, -1, -1]
func.func @parallel() -> (tensor<6xf32>, tensor<6xf32>) {
  %init = arith.constant dense<-1.0> : tensor<6xf32>
  %one = arith.constant 1.0 : f32
  %r = scf.forall (%i) = (1) to (5) step (2) shared_outs(%o = %init) -> (tensor<6xf32>) {
    %before = tensor.extract %o[%i] : tensor<6xf32>
    %k = arith.index_cast %i : index to i64
    %f = arith.sitofp %k : i64 to f32
    %v = arith.addf %f, %before : f32
    %w = arith.addf %v, %one : f32
    %pair = tensor.from_elements %v, %w : tensor<2xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %pair into %o[%i] [2] [1] : tensor<2xf32> into tensor<6xf32>
    }
  }
  %none = scf.forall (%i, %j) in (0, 4) shared_outs(%o = %init) -> (tensor<6xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %init into %o[%i] [6] [1] : tensor<6xf32> into tensor<6xf32>
    }
  }
  return %r, %none : tensor<6xf32>, tensor<6xf32>
}

// CHECK-LABEL: @calls
// CHECK-NEXT: 42
func.func @calls() -> index {
  %c41 = arith.constant 41 : index
  %r = call @successor(%c41) : (index) -> index
  return %r : index
}
func.func private @successor(%x: index) -> index {
  %c1 = arith.constant 1 : index
  %r = arith.addi %x, %c1 : index
  return %r : index
}
