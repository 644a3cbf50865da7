// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop of the user's own with a lower bound and a step, without attention.
// sizes: S = 6 | S = 33
!x = tensor<8x$Sxf32>
!row = tensor<$Sxf32>
func.func @loop_of_sums(%x: !x, %y: !x) -> !x {
  %out = scf.forall (%i) = (2) to (8) step (3) shared_outs(%o = %x) -> (!x) {
    %a = tensor.extract_slice %x[%i, 0] [1, @S] [1, 1] : !x to !row
    %b = tensor.extract_slice %y[%i, 0] [1, @S] [1, 1] : !x to !row
    %c = arith.addf %a, %b : !row
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[%i, 0] [1, @S] [1, 1] : !row into !x
    }
  }
  return %out : !x
}
