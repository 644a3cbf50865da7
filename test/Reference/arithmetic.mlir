// RUN: attn-reference %s | FileCheck %s
// arith, math and affine on scalars and element by element.

// CHECK-LABEL: @integers
// CHECK-NEXT: 3
// CHECK-NEXT: -4
// CHECK-NEXT: -3
// CHECK-NEXT: -1
// CHECK-NEXT: -128
// CHECK-NEXT: true
// CHECK-NEXT: false
func.func @integers() -> (index, index, index, index, i8, i1, i1) {
  %c7 = arith.constant 7 : index
  %c-7 = arith.constant -7 : index
  %c3 = arith.constant 3 : index
  %c2 = arith.constant 2 : index
  %ceil = arith.ceildivsi %c7, %c3 : index
  %floor = arith.floordivsi %c-7, %c2 : index
  %trunc = arith.divsi %c-7, %c2 : index
  %rem = arith.remsi %c-7, %c3 : index
  %c127 = arith.constant 127 : i8
  %c1 = arith.constant 1 : i8
  %wraps = arith.addi %c127, %c1 : i8
  %less = arith.cmpi slt, %c-7, %c3 : index
  %unsigned = arith.cmpi ult, %c-7, %c3 : index
  return %ceil, %floor, %trunc, %rem, %wraps, %less, %unsigned
      : index, index, index, index, i8, i1, i1
}

// CHECK-LABEL: @no_quotient
// CHECK-NEXT: 7
// CHECK-NEXT: 0
// CHECK-NEXT: -128
// CHECK-NEXT: 0
// CHECK-NEXT: -9
func.func @no_quotient() -> (index, index, i8, i8, i8) {
  %c7 = arith.constant 7 : index
  %c0 = arith.constant 0 : index
  %quotient = arith.floordivsi %c7, %c0 : index
  %rest = arith.remsi %c7, %c0 : index
  %least = arith.constant -128 : i8
  %minus = arith.constant -1 : i8
  %zero = arith.constant 0 : i8
  %odd = arith.constant -9 : i8
  %wraps = arith.divsi %least, %minus : i8
  %leaves = arith.remsi %least, %minus : i8
  %unsigned = arith.divui %odd, %zero : i8
  return %quotient, %rest, %wraps, %leaves, %unsigned : index, index, i8, i8, i8
}

// CHECK-LABEL: @floats
// CHECK-NEXT: [0.25, 1, 3]
// CHECK-NEXT: [0.5, 2, 3]
// CHECK-NEXT: [1, 1.41421356, nan]
// CHECK-NEXT: 2.71828183
func.func @floats() -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, f32) {
  %x = arith.constant dense<[0.5, 2.0, 6.0]> : tensor<3xf32>
  %y = arith.constant dense<2.0> : tensor<3xf32>
  %z = arith.constant dense<[1.0, 2.0, -1.0]> : tensor<3xf32>
  %three = arith.constant dense<3.0> : tensor<3xf32>
  %one = arith.constant 1.0 : f32
  %half = arith.divf %x, %y : tensor<3xf32>
  %least = arith.minimumf %x, %three : tensor<3xf32>
  %root = math.sqrt %z : tensor<3xf32>
  %e = math.exp %one : f32
  return %half, %least, %root, %e : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, f32
}

// i64 does not go through a double; the condition of a select may be a scalar.
// CHECK-LABEL: @exact
// CHECK-NEXT: [9223372036854775807, -9223372036854775807]
// CHECK-NEXT: [5, 6]
// CHECK-NEXT: -1
func.func @exact() -> (tensor<2xi64>, tensor<2xi64>, i64) {
  %x = arith.constant dense<[9223372036854775806, 9223372036854775808]> : tensor<2xi64>
  %one = arith.constant dense<1> : tensor<2xi64>
  %y = arith.addi %x, %one : tensor<2xi64>
  %five = arith.constant dense<[5, 6]> : tensor<2xi64>
  %true = arith.constant true
  %z = arith.select %true, %five, %x : tensor<2xi64>
  %sign = arith.extsi %true : i1 to i64
  return %y, %z, %sign : tensor<2xi64>, tensor<2xi64>, i64
}

// CHECK-LABEL: @affine
// CHECK-NEXT: -4
// CHECK-NEXT: 3
// CHECK-NEXT: 10
func.func @affine() -> (index, index, index) {
  %c-7 = arith.constant -7 : index
  %c10 = arith.constant 10 : index
  %floor = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%c-7)
  %min = affine.min affine_map<(d0)[s0] -> (s0 + d0, 64)>(%c-7)[%c10]
  %max = affine.max affine_map<(d0)[s0] -> (s0, d0 mod 4)>(%c-7)[%c10]
  return %floor, %min, %max : index, index, index
}
