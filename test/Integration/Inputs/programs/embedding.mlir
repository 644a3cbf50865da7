// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Words are numbers of rows of a table; their norms attend to each other.
// sizes: B = 2, S = 6, V = 11 | B = 1, S = 33, V = 50 | B = 1, S = 1, V = 1
// ids: below V
!x = tensor<$Bx1x$Sx16xf32>
func.func @embedding(%ids: tensor<$Bx$Sxi32>, %table: tensor<$Vx16xf32>) -> !x {
  %empty = tensor.empty(@B, @S) : !x
  %x = linalg.generic {indexing_maps = [affine_map<(b, h, s, d) -> (b, s)>, affine_map<(b, h, s, d) -> (b, h, s, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%ids : tensor<$Bx$Sxi32>) outs(%empty : !x) {
  ^bb0(%id: i32, %old: f32):
    %row = arith.index_cast %id : i32 to index
    %d = linalg.index 3 : index
    %e = tensor.extract %table[%row, %d] : tensor<$Vx16xf32>
    linalg.yield %e : f32
  } -> !x
  %n = attn.layer_norm %x eps 1.0e-5 : !x
  %out = attn.sdpa %n, %n, %n scale 0.25 where causal(top_left) : (!x, !x, !x) -> !x
  return %out : !x
}
