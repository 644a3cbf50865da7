// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: --emit=obj
// A declaration that nobody calls.
func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
func.func @hidden(%x: tensor<33x4xf32>) -> tensor<33x4xf32> {
  return %x : tensor<33x4xf32>
}
func.func @shown(%x: tensor<33x4xf32>) -> tensor<33x4xf32> {
  return %x : tensor<33x4xf32>
}
