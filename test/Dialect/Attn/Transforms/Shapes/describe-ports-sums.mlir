// A result that is as long as arguments together has the sum of their sizes; where one size is known, it is added as a number.
//
// RUN: attn-opt %s --attn-describe-ports | FileCheck %s
// RUN: attn-opt %s --attn-describe-ports | attn-opt | FileCheck %s

// CHECK: func.func @cache
// CHECK-SAME: #attn.port<"past", input [past0, 8] : tensor<?x8xf32>>, #attn.port<"next", input [rows, 8] : tensor<?x8xf32>>
// CHECK-SAME: #attn.port<"present", output ["past0+rows", 8] : tensor<?x8xf32>>, #attn.port<"more", output ["past0+rows+3", 8] : tensor<?x8xf32>>
func.func @cache(%past: tensor<?x8xf32> {attn.name = "past"}, %next: tensor<?x8xf32> {attn.name = "next", attn.sizes = ["rows", ""]},
                 %three: tensor<3x8xf32> {attn.name = "three"})
    -> (tensor<?x8xf32> {attn.name = "present"}, tensor<?x8xf32> {attn.name = "more"}) {
  %present = tensor.concat dim(0) %past, %next : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %more = tensor.concat dim(0) %present, %three : (tensor<?x8xf32>, tensor<3x8xf32>) -> tensor<?x8xf32>
  return %present, %more : tensor<?x8xf32>, tensor<?x8xf32>
}
