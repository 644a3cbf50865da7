// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same loops for a weight that was packed at compile time; one row reads
// four panels (two of AVX-512) side by side, so that eight sums are in flight.
// RUN: attn-opt %s --emit=asm --target=x86-64-v3 | %python %S/loops.py project.project | FileCheck %s --check-prefix=AVX2 --implicit-check-not='{{(stores|stack|calls)=[1-9]}}'
// RUN: attn-opt %s --emit=asm --target=x86-64-v4 | %python %S/loops.py project.project | FileCheck %s --check-prefix=AVX512 --implicit-check-not='{{(stores|stack|calls)=[1-9]}}'
// AVX2: fma=24 {{.*}} stores=0 stack=0 calls=0 per-fma=1.8
// AVX2: fma=16 {{.*}} stores=0 stack=0 calls=0
// AVX512: fma=64 {{.*}} stores=0 stack=0 calls=0 per-fma={{1\.[0-6].}}
// AVX512: fma=32 {{.*}} stores=0 stack=0 calls=0
func.func @project(%x: tensor<?x512xf32>, %b: tensor<512xf32>) -> tensor<?x512xf32> {
  %w = arith.constant dense<2.0> : tensor<512x512xf32>
  %y = attn.project %x, %w, %b : (tensor<?x512xf32>, tensor<512x512xf32>, tensor<512xf32>) -> tensor<?x512xf32>
  return %y : tensor<?x512xf32>
}
