// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --compile-to=llvm
func.func @rope_c4_partial(%x: tensor<2x4x5x8xf32>, %c: tensor<9x4611686018427387904xf32>) {
  %r = attn.rope %x, %c, %c : tensor<2x4x5x8xf32>, tensor<9x4611686018427387904xf32>
  return
}
