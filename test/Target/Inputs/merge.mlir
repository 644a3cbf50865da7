// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function that is a single merge, and one that is more.
func.func @merge(%m: tensor<?x8xf32>, %l: tensor<?x8xf32>, %a: tensor<?x8x6xf32>, %m2: tensor<?x8xf32>, %l2: tensor<?x8xf32>, %a2: tensor<?x8x6xf32>)
    -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8x6xf32>) {
  %both, %sum, %acc = attn.merge_states %m, %l, %a with %m2, %l2, %a2 : tensor<?x8xf32>, tensor<?x8x6xf32>
  return %both, %sum, %acc : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8x6xf32>
}
func.func @merge_finished(%m: tensor<?x8xf32>, %l: tensor<?x8xf32>, %a: tensor<?x8x6xf32>, %m2: tensor<?x8xf32>, %l2: tensor<?x8xf32>, %a2: tensor<?x8x6xf32>)
    -> (tensor<?x8x6xf32>, tensor<?x8xf32>) {
  %both, %sum, %acc = attn.merge_states %m, %l, %a with %m2, %l2, %a2 : tensor<?x8xf32>, tensor<?x8x6xf32>
  %out = attn.finalize_state %both, %sum, %acc : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8x6xf32>) -> tensor<?x8x6xf32>
  return %out, %both : tensor<?x8x6xf32>, tensor<?x8xf32>
}
