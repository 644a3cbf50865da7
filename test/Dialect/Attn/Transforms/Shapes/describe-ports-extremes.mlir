// A size may be the larger or the smaller one of two; what stands beside it moves into it, and what decides nothing goes.
//
// RUN: attn-opt %s --attn-describe-ports | FileCheck %s
// RUN: attn-opt %s --attn-describe-ports | attn-opt | FileCheck %s
// RUN: attn-opt %s --emit=header -o - | FileCheck %s --check-prefix=HEADER
// RUN: attn-opt %s --verify

// CHECK: func.func @cuts
// CHECK-SAME: #attn.port<"behind", output ["max(s-4,0)", 8] : tensor<?x8xf32>>, #attn.port<"last", output ["min(s,3)", 8] : tensor<?x8xf32>>
// CHECK-SAME: #attn.port<"halved", output ["max(s-4,0)/2", 8] : tensor<?x8xf32>>, #attn.port<"all", output [s, 8] : tensor<?x8xf32>>
// HEADER: /* Result: float, shape (max(s-4,0), 8), any strides */
// HEADER: -7  behind: dimension 0 is not max(s-4,0)
func.func @cuts(%x: tensor<?x8xf32> {attn.name = "x", attn.sizes = ["s", ""]})
    -> (tensor<?x8xf32> {attn.name = "behind"}, tensor<?x8xf32> {attn.name = "last"}, tensor<?x8xf32> {attn.name = "halved"}, tensor<?x8xf32> {attn.name = "all"}) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %s = tensor.dim %x, %c0 : tensor<?x8xf32>
  %begin = arith.minsi %s, %c4 : index
  %left = arith.subi %s, %begin : index
  %behind = tensor.extract_slice %x[%begin, 0] [%left, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
  %back = arith.subi %s, %c3 : index
  %inside = arith.maxsi %back, %c0 : index
  %place = arith.minsi %inside, %s : index
  %few = arith.subi %s, %place : index
  %last = tensor.extract_slice %x[%place, 0] [%few, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
  %half = arith.divsi %left, %c2 : index
  %halved = tensor.extract_slice %x[0, 0] [%half, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
  %most = arith.maxsi %s, %left : index
  %all = tensor.extract_slice %x[0, 0] [%most, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
  return %behind, %last, %halved, %all : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}
