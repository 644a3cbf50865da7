// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --compile-to=llvm
!x = tensor<?x4x?x16xf32>
!m = tensor<?x1x1x?xi64>
func.func @padding_mask(%q: !x, %k: !x, %v: !x, %mask: !m) -> !x {
  %seen = arith.cmpi ne, %mask, %mask : !m
  %out = attn.sdpa %q, %k, %v scale 0.25 where %seen : tensor<?x1x1x?xi1> : (!x, !x, !x) -> !x
  return %out : !x
}
