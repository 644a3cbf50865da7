// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The register tiles of a projection: no spill, no store, no call. One loop each
// reads packed columns (many rows), the weight in place (few rows) and, for one
// row, a single row of it; the last may read an address from the stack.
// RUN: attn-opt %s --emit=asm --target=x86-64-v3 | %python %S/loops.py project.project | FileCheck %s --check-prefix=AVX2 --implicit-check-not='{{(stores|stack|calls)=[1-9]}}'
// RUN: attn-opt %s --emit=asm --target=x86-64-v4 | %python %S/loops.py project.project | FileCheck %s --check-prefix=AVX512 --implicit-check-not='{{(stores|calls)=[1-9]}}'
// RUN: attn-opt %s --emit=asm --target=aarch64 | %python %S/loops.py project.project | FileCheck %s --check-prefix=NEON --implicit-check-not='{{(stores|calls)=[1-9]}}'
// AVX2-COUNT-2: fma=24 {{.*}} stores=0 stack=0 calls=0 per-fma=1.8
// AVX2: fma=4 {{.*}} stores=0 stack=0 calls=0
// AVX512-COUNT-2: fma=64 {{.*}} stores=0 stack=0 calls=0 per-fma={{1\.[0-6].}}
// AVX512: fma=16 {{.*}} stores=0 stack={{[01]}} calls=0
// NEON-COUNT-2: fma=80 {{.*}} stores=0 {{.*}} calls=0 per-fma={{1\.[0-5].}}
func.func @project(%x: tensor<?x512xf32>, %w: tensor<512x512xf32>, %b: tensor<512xf32>) -> tensor<?x512xf32> {
  %y = attn.project %x, %w, %b : (tensor<?x512xf32>, tensor<512x512xf32>, tensor<512xf32>) -> tensor<?x512xf32>
  return %y : tensor<?x512xf32>
}
