// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop of the user's own, which begins at 2 and takes every third head: heads 2 and 5 attend, the others stay.
// sizes: S = 6, T = 9 | S = 33, T = 20
!q = tensor<8x$Sx16xf32>
!k = tensor<8x$Tx16xf32>
func.func @loop_with_step(%q: !q, %k: !k, %v: !k) -> !q {
  %out = scf.forall (%h) = (2) to (8) step (3) shared_outs(%o = %q) -> (!q) {
    %a = tensor.extract_slice %q[%h, 0, 0] [1, @S, 16] [1, 1, 1] : !q to tensor<$Sx16xf32>
    %b = tensor.extract_slice %k[%h, 0, 0] [1, @T, 16] [1, 1, 1] : !k to tensor<$Tx16xf32>
    %c = tensor.extract_slice %v[%h, 0, 0] [1, @T, 16] [1, 1, 1] : !k to tensor<$Tx16xf32>
    %d = attn.sdpa %a, %b, %c scale 0.25 : (tensor<$Sx16xf32>, tensor<$Tx16xf32>, tensor<$Tx16xf32>) -> tensor<$Sx16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %d into %o[%h, 0, 0] [1, @S, 16] [1, 1, 1] : tensor<$Sx16xf32> into !q
    }
  }
  return %out : !q
}
