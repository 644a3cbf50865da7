// Arguments and results are called as in the text.
// RUN: attn-opt %s --compile-to=input | FileCheck %s

// CHECK-LABEL: func.func @named
// CHECK-SAME: {attn.name = "q"}
// CHECK-SAME: {attn.name = "int_"}
// CHECK-SAME: {attn.name = "a_b"}
// CHECK-SAME: {attn.name = "size_"}
// CHECK-SAME: {attn.name = "r_1"}
// CHECK-SAME: {attn.name = "q_1"}
// CHECK-SAME: {attn.name = "q_2"}
func.func @named(%q: tensor<2xf32>, %int: tensor<2xf32>, %a.b: tensor<2xf32>, %size: tensor<2xf32>)
    -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c1 to %c1 step %c1 iter_args(%x = %q, %y = %int) -> (tensor<2xf32>, tensor<2xf32>) {
    scf.yield %x, %y : tensor<2xf32>, tensor<2xf32>
  }
  return %r#1, %q, %q : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @numbers
// CHECK-SAME: {attn.name = "arg0"}
// CHECK-SAME: {attn.name = "kept"}
// CHECK-SAME: {attn.name = "out0"}
func.func @numbers(%0: tensor<2xf32>, %1: tensor<2xf32> {attn.name = "kept"}) -> tensor<2xf32> {
  %2 = arith.addf %0, %1 : tensor<2xf32>
  return %2 : tensor<2xf32>
}

// CHECK-LABEL: func.func private @hidden
// CHECK-NOT: attn.name
func.func private @hidden(%q: tensor<2xf32>) -> tensor<2xf32> {
  return %q : tensor<2xf32>
}

// What C, its headers and the argument struct keep is changed; a name that was
// chosen stays, and others go around it.
// CHECK-LABEL: func.func @kept
// CHECK-SAME: {attn.name = "register_"}
// CHECK-SAME: {attn.name = "x__reserved"}
// CHECK-SAME: {attn.name = "x_Bool"}
// CHECK-SAME: {attn.name = "NULL_"}
// CHECK-SAME: {attn.name = "size_t_"}
// CHECK-SAME: {attn.name = "xATTN_MAX_RANK"}
// CHECK-SAME: {attn.name = "a_1"}
// CHECK-SAME: {attn.name = "a"}
// CHECK-SAME: {attn.name = "write"}
func.func @kept(%register: tensor<2xf32>, %__reserved: tensor<2xf32>, %_Bool: tensor<2xf32>, %NULL: tensor<2xf32>,
                %size_t: tensor<2xf32>, %ATTN_MAX_RANK: tensor<2xf32>, %a: tensor<2xf32>,
                %b: tensor<2xf32> {attn.name = "a"}) -> tensor<2xf32> {
  %write = arith.addf %a, %b : tensor<2xf32>
  return %write : tensor<2xf32>
}
