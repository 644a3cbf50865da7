// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The register tile of a projection: no spill, no store, no call.
// RUN: attn-opt %s --emit=asm --target=x86-64-v3 | %python %S/loops.py project.project | FileCheck %s --check-prefix=AVX2
// RUN: attn-opt %s --emit=asm --target=x86-64-v4 | %python %S/loops.py project.project | FileCheck %s --check-prefix=AVX512
// RUN: attn-opt %s --emit=asm --target=aarch64 | %python %S/loops.py project.project | FileCheck %s --check-prefix=NEON
// AVX2: fma=24 {{.*}} stores=0 stack=0 calls=0 per-fma={{2\.0.|1\..*}}
// AVX512: fma=64 {{.*}} stores=0 stack=0 calls=0 per-fma={{1\.[0-6].}}
// NEON: fma=80 {{.*}} stores=0 stack=0 calls=0 per-fma={{1\.[0-4].}}
func.func @project(%x: tensor<?x512xf32>, %w: tensor<512x512xf32>, %b: tensor<512xf32>) -> tensor<?x512xf32> {
  %y = attn.project %x, %w, %b : (tensor<?x512xf32>, tensor<512x512xf32>, tensor<512xf32>) -> tensor<?x512xf32>
  return %y : tensor<?x512xf32>
}
