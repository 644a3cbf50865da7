// RUN: attn-opt %s -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn.mask_fn accepts; the numbers are those of docs/Spec.md.

func.func @mask_fn_c1_rank_2(%s: tensor<5x6xf32>) {
  %r = attn.mask_fn %s (%b, %h, %q, %k) {
    %t = arith.cmpi sle, %k, %q : index
    attn.yield %t : i1
  } : tensor<5x6xf32>
  return
}

func.func @mask_fn_c2_captures(%s: tensor<2x4x5x6xf32>, %x: tensor<4xi32>) {
  %r = attn.mask_fn %s (%b, %h, %q, %k) with (%t0 = %x : tensor<4xi32>) {
    %t = arith.cmpi sle, %k, %k : index
    attn.yield %t : i1
  } : tensor<2x4x5x6xf32>
  return
}

func.func @mask_fn_c3_tables_of_floats(%s: tensor<2x4x5x6xf32>, %x: tensor<4xf32>) {
  %r = attn.mask_fn %s (%b, %h, %q, %k) with (%t0 = %x : tensor<4xf32>) {
    %x0 = tensor.extract %t0[%h] : tensor<4xf32>
    %t = arith.cmpf olt, %x0, %x0 : f32
    attn.yield %t : i1
  } : tensor<2x4x5x6xf32>
  return
}

func.func @mask_fn_c4_select(%s: tensor<2x4x5x6xf32>) {
  %r = attn.mask_fn %s (%b, %h, %q, %k) {
    %c = arith.cmpi slt, %q, %k : index
    %m = arith.select %c, %q, %k : index
    %t = arith.cmpi eq, %m, %b : index
    attn.yield %t : i1
  } : tensor<2x4x5x6xf32>
  return
}

func.func @mask_fn_c5_math(%s: tensor<2x4x5x6xf32>) {
  %r = attn.mask_fn %s (%b, %h, %q, %k) {
    %i = arith.index_cast %q : index to i32
    %a = math.absi %i : i32
    %t = arith.cmpi eq, %a, %i : i32
    attn.yield %t : i1
  } : tensor<2x4x5x6xf32>
  return
}

func.func @mask_fn_c6_constant_divisor(%s: tensor<2x4x5x6xf32>) {
  %r = attn.mask_fn %s (%b, %h, %q, %k) {
    %c4 = arith.constant 4 : index
    %d = arith.divui %q, %c4 : index
    %t = arith.cmpi eq, %d, %k : index
    attn.yield %t : i1
  } : tensor<2x4x5x6xf32>
  return
}

func.func @mask_fn_c7_true(%s: tensor<2x4x5x6xf32>) {
  %r = attn.mask_fn %s (%b, %h, %q, %k) {
    %t = arith.constant true
    attn.yield %t : i1
  } : tensor<2x4x5x6xf32>
  return
}

func.func @mask_fn_c8_unknown_sizes(%s: tensor<?x4x?x?xf32>) {
  %r = attn.mask_fn %s (%b, %h, %q, %k) {
    %t = arith.cmpi sle, %k, %q : index
    attn.yield %t : i1
  } : tensor<?x4x?x?xf32>
  return
}
