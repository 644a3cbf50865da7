// RUN: attn-opt %s -canonicalize | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks in a row become their conjunction; operands follow in order.
// CHECK-LABEL: func @two
// CHECK-SAME: (%[[S:.*]]: tensor<2x5x6xf32>, %[[M:.*]]: tensor<5x6xi1>, %[[N:.*]]: tensor<2xi32>)
// CHECK-NEXT: %[[R:.*]] = attn.mask %[[S]] where %[[M]] : tensor<5x6xi1> and key_length(%[[N]] : tensor<2xi32>) : tensor<2x5x6xf32>
// CHECK-NEXT: return %[[R]]
func.func @two(%s: tensor<2x5x6xf32>, %m: tensor<5x6xi1>, %n: tensor<2xi32>) -> tensor<2x5x6xf32> {
  %a = attn.mask %s where %m : tensor<5x6xi1> : tensor<2x5x6xf32>
  %b = attn.mask %a where key_length(%n : tensor<2xi32>) : tensor<2x5x6xf32>
  return %b : tensor<2x5x6xf32>
}

// CHECK-LABEL: func @three_are_one_list
// CHECK-NEXT: attn.mask %{{.*}} where causal(top_left) and causal(offset = 1) and (not causal(offset = -4) or causal(offset = 2)) : tensor<5x6xf32>
// CHECK-NEXT: return
func.func @three_are_one_list(%s: tensor<5x6xf32>) -> tensor<5x6xf32> {
  %a = attn.mask %s where causal(top_left) : tensor<5x6xf32>
  %b = attn.mask %a where causal(offset = 1) : tensor<5x6xf32>
  %c = attn.mask %b where not causal(offset = -4) or causal(offset = 2) : tensor<5x6xf32>
  return %c : tensor<5x6xf32>
}

// CHECK-LABEL: func @second_use
// CHECK-COUNT-2: attn.mask
func.func @second_use(%s: tensor<5x6xf32>) -> (tensor<5x6xf32>, tensor<5x6xf32>) {
  %a = attn.mask %s where causal(top_left) : tensor<5x6xf32>
  %b = attn.mask %a where causal(offset = 1) : tensor<5x6xf32>
  return %a, %b : tensor<5x6xf32>, tensor<5x6xf32>
}
