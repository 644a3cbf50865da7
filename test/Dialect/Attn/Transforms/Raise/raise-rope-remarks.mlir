// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What looks like a rotation and is none that attn.rope could do stays, with a remark; what is none has no remark.
//
// RUN: attn-opt %s --split-input-file --attn-raise-rope --verify-diagnostics --remarks-filter-missed=attn-raise-rope --remark-policy=all | FileCheck %s
// CHECK-NOT: attn.rope

!x = tensor<2x3x4xf32>
!h = tensor<2x3x2xf32>

// Angles that a caller gives may differ between the features of a pair.
func.func @angles_given(%x: !x, %cos: tensor<3x4xf32>, %sin: tensor<3x4xf32>) -> !x {
  %e = tensor.empty() : !x
  %c = linalg.broadcast ins(%cos : tensor<3x4xf32>) outs(%e : !x) dimensions = [0]
  %s = linalg.broadcast ins(%sin : tensor<3x4xf32>) outs(%e : !x) dimensions = [0]
  %x0 = tensor.extract_slice %x[0, 0, 0] [2, 3, 2] [1, 1, 1] : !x to !h
  %x1 = tensor.extract_slice %x[0, 0, 2] [2, 3, 2] [1, 1, 1] : !x to !h
  %m = arith.negf %x1 : !h
  %r = tensor.concat dim(2) %m, %x0 : (!h, !h) -> !x
  %p = arith.mulf %x, %c : !x
  %q = arith.mulf %r, %s : !x
  // expected-remark @below {{not read as rotary embedding: the two features of a pair are not known to be rotated by the same angle}}
  %y = arith.addf %p, %q : !x
  return %y : !x
}

// -----

!x = tensor<2x3x4xf32>
!h = tensor<2x3x2xf32>

// So do those of this table, in its last row.
func.func @another_table(%x: !x) -> !x {
  %cos = arith.constant dense<[[1.0, 2.0, 1.0, 2.0], [3.0, 4.0, 3.0, 4.0], [5.0, 6.0, 5.0, 7.0]]> : tensor<3x4xf32>
  %e = tensor.empty() : !x
  %c = linalg.broadcast ins(%cos : tensor<3x4xf32>) outs(%e : !x) dimensions = [0]
  %x0 = tensor.extract_slice %x[0, 0, 0] [2, 3, 2] [1, 1, 1] : !x to !h
  %x1 = tensor.extract_slice %x[0, 0, 2] [2, 3, 2] [1, 1, 1] : !x to !h
  %m = arith.negf %x1 : !h
  %r = tensor.concat dim(2) %m, %x0 : (!h, !h) -> !x
  %p = arith.mulf %x, %c : !x
  %q = arith.mulf %r, %c : !x
  // expected-remark @below {{not read as rotary embedding: the two features of a pair are not known to be rotated by the same angle}}
  %y = arith.addf %p, %q : !x
  return %y : !x
}

// -----

!x = tensor<2x3x4xf32>
!h = tensor<2x3x2xf32>

// Every head has angles of its own.
func.func @per_head(%x: !x, %c: !h, %s: !h) -> !x {
  %x0 = tensor.extract_slice %x[0, 0, 0] [2, 3, 2] [1, 1, 1] : !x to !h
  %x1 = tensor.extract_slice %x[0, 0, 2] [2, 3, 2] [1, 1, 1] : !x to !h
  %p0 = arith.mulf %x0, %c : !h
  %q0 = arith.mulf %x1, %s : !h
  %y0 = arith.subf %p0, %q0 : !h
  %p1 = arith.mulf %x1, %c : !h
  %q1 = arith.mulf %x0, %s : !h
  %y1 = arith.addf %p1, %q1 : !h
  // expected-remark @below {{not read as rotary embedding: its cosines and sines are not those of rows, or of batch entries and rows}}
  %y = tensor.concat dim(2) %y0, %y1 : (!h, !h) -> !x
  return %y : !x
}

// -----

!x = tensor<2x3x4xf32>
!h = tensor<2x3x2xf32>

// Both signs are plus, the halves change their places, and one sine belongs to another half: no rotation.
func.func @others(%x: !x, %c: !h, %s: !h) -> (!x, !x, !x) {
  %x0 = tensor.extract_slice %x[0, 0, 0] [2, 3, 2] [1, 1, 1] : !x to !h
  %x1 = tensor.extract_slice %x[0, 0, 2] [2, 3, 2] [1, 1, 1] : !x to !h
  %p0 = arith.mulf %x0, %c : !h
  %q0 = arith.mulf %x1, %s : !h
  %a0 = arith.addf %p0, %q0 : !h
  %y0 = arith.subf %p0, %q0 : !h
  %p1 = arith.mulf %x1, %c : !h
  %q1 = arith.mulf %x0, %s : !h
  %r1 = arith.mulf %x1, %s : !h
  %y1 = arith.addf %p1, %q1 : !h
  %z1 = arith.addf %p1, %r1 : !h
  %plus = tensor.concat dim(2) %a0, %y1 : (!h, !h) -> !x
  %other = tensor.concat dim(2) %y1, %y0 : (!h, !h) -> !x
  %wrong = tensor.concat dim(2) %y0, %z1 : (!h, !h) -> !x
  return %plus, %other, %wrong : !x, !x, !x
}
