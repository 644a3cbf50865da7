// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --emit=obj
// MLIR's parser stumbles over a number that it has refused.
!x = tensor<4x?x16xf32>
!m = tensor<?x16xf32> linalg.reduce ins(%a : !x) outs(%start : !m) dimensions = [-9223372036854775809]
