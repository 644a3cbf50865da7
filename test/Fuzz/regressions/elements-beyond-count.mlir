// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --compile-to=llvm
func.func @f(%x: f32) -> tensor<9223372036854775807x2xf32> {
  %r = tensor.from_elements %x, %x : tensor<9223372036854775807x2xf32>
  return %r : tensor<9223372036854775807x2xf32>
}
