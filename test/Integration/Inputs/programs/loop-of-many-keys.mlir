// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop of the user's own, in whose turns the keys may be taken in parts.
// sizes: T = 9 | T = 8200
!q = tensor<4x40x8xf32>
!k = tensor<4x$Tx8xf32>
func.func @loop_of_many_keys(%q: !q, %k: !k) -> !q {
  %out = scf.forall (%h) in (4) shared_outs(%o = %q) -> (!q) {
    %a = tensor.extract_slice %q[%h, 0, 0] [1, 40, 8] [1, 1, 1] : !q to tensor<40x8xf32>
    %b = tensor.extract_slice %k[%h, 0, 0] [1, @T, 8] [1, 1, 1] : !k to tensor<$Tx8xf32>
    %d = attn.sdpa %a, %b, %b scale 0.25 : (tensor<40x8xf32>, tensor<$Tx8xf32>, tensor<$Tx8xf32>) -> tensor<40x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %d into %o[%h, 0, 0] [1, 40, 8] [1, 1, 1] : tensor<40x8xf32> into !q
    }
  }
  return %out : !q
}
