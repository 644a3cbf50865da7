// The name of a size may have any length. So may what is computed of them.
//
// RUN: sed 's/LONG/xxxxxxxxxxxxxxx/; s/x\{15\}/&&&&&&&&&&&&&&/' %s > %t.mlir
// RUN: attn-opt %t.mlir --attn-describe-ports | FileCheck %s
// RUN: attn-opt %t.mlir --attn-describe-ports | attn-opt | FileCheck %s

// CHECK: #attn.port<"first", input [[[LONG:x+]], 8] : tensor<?x8xf32>>
// CHECK-SAME: #attn.port<"same", output [[[LONG]], 8] : tensor<?x8xf32>>
// CHECK-SAME: #attn.port<"both", output ["[[LONG]]+second0", 8] : tensor<?x8xf32>>
func.func @join(%first: tensor<?x8xf32> {attn.name = "first", attn.sizes = ["LONG", ""]}, %second: tensor<?x8xf32> {attn.name = "second"})
    -> (tensor<?x8xf32> {attn.name = "same"}, tensor<?x8xf32> {attn.name = "both"}) {
  %same = arith.addf %first, %first : tensor<?x8xf32>
  %both = tensor.concat dim(0) %first, %second : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %same, %both : tensor<?x8xf32>, tensor<?x8xf32>
}
