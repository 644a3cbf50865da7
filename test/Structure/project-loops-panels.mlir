// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same loops for a weight that was packed at compile time.
// RUN: attn-opt %s --emit=asm --target=x86-64-v3 | %python %S/loops.py project.project | FileCheck %s --check-prefix=AVX2 --implicit-check-not='{{(stores|stack|calls)=[1-9]}}'
// RUN: attn-opt %s --emit=asm --target=x86-64-v4 | %python %S/loops.py project.project | FileCheck %s --check-prefix=AVX512 --implicit-check-not='{{(stores|stack|calls)=[1-9]}}'
// AVX2: fma=48 {{.*}} stores=0 stack=0 calls=0 per-fma=1.{{[78]}}
// AVX512: fma=96 {{.*}} stores=0 stack=0 calls=0 per-fma=1.6
func.func @project(%x: tensor<?x512xf32>, %b: tensor<512xf32>) -> tensor<?x512xf32> {
  %w = arith.constant dense<2.0> : tensor<512x512xf32>
  %y = attn.project %x, %w, %b : (tensor<?x512xf32>, tensor<512x512xf32>, tensor<512xf32>) -> tensor<?x512xf32>
  return %y : tensor<?x512xf32>
}
