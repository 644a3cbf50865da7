// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --compile-to=vectors
!q = tensor<?x8xf32>
!k = tensor<?x8xf32>
func.func @strided_keys(%q: !q, %x: tensor<?x16xf32>, %v: !k) -> !q {
  %T_axis = arith.constant 0 : index
  %T = tensor.dim %x, %T_axis : tensor<?x16xf32>
  %k = tensor.extract_slice %x[0, 0] [%T, 8] [1, 4611686018427387904] : tensor<?x16xf32> to !k
  %out = attn.sdpa %q, %k, %v scale 0.35 : (!q, !k, !k) -> !q
  return %out : !q
}
