// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --emit=header --generic-ops
func.func @predicate_of_nothing(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %out = attn.sdpa %q, %k, %k scale 1.0 where predicate(#attn.program<<"arith.cmpi", [2, 2], {predicate = 4294967295 : i64}, i1>>) : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %out : tensor<?x8xf32>
}
