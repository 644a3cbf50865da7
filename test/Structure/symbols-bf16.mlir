// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number of bf16 that one block loads and another stores is moved as an integer: no call of the compiler's library.
// RUN: attn-opt %s --target=x86-64-v3 --emit=obj -O0 -o %t.o && llvm-nm --undefined-only --just-symbol-name %t.o | FileCheck %s
// RUN: attn-opt %s --target=x86-64-v3 --emit=obj -o %t.o && llvm-nm --undefined-only --just-symbol-name %t.o | FileCheck %s
// CHECK-NOT: __
// CHECK:     attn_rt_parallel_for
// CHECK-NOT: __
func.func @spread(%x: tensor<?x?xbf16>) -> tensor<?x?x8xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xbf16>
  %m = tensor.dim %x, %c1 : tensor<?x?xbf16>
  %e = tensor.empty(%n, %m) : tensor<?x?x8xbf16>
  %y = linalg.broadcast ins(%x : tensor<?x?xbf16>) outs(%e : tensor<?x?x8xbf16>) dimensions = [2]
  return %y : tensor<?x?x8xbf16>
}
