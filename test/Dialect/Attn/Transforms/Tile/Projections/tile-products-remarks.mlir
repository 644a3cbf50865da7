// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is not computed with a product on a GPU, and why.
// RUN: attn-opt %s --attn-assign-gpu-schedule --attn-tile-products --verify-diagnostics --remarks-filter-missed=attn-tile-products --remark-policy=all

func.func @several_users(%x: tensor<5x32xf16>, %w: tensor<32x16xf16>) -> (tensor<5x16xf16>, tensor<5x16xf16>) {
  %y = attn.project %x, %w : (tensor<5x32xf16>, tensor<32x16xf16>) -> tensor<5x16xf16>
  // expected-remark @below {{math.exp is not computed with the product in front: the result has several users}}
  %b = math.exp %y : tensor<5x16xf16>
  return %y, %b : tensor<5x16xf16>, tensor<5x16xf16>
}
