// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The register tiles of a projection: no spill, no store, no call. One loop each
// reads panels (many rows), those that a step has packed (some) and the weight
// in place (few). Then come blocks of fewer rows and of fewer vectors. With AVX2
// one loop copies the panel for others, 8 vectors in four turns.
// RUN: attn-opt %s --emit=asm --target=x86-64-v3 | %python %S/loops.py project.project | FileCheck %s --check-prefix=AVX2 --implicit-check-not='{{(stores=([1-79]|[1-9][0-9])|calls=[1-9])}}'
// RUN: attn-opt %s --emit=asm --target=x86-64-v4 | %python %S/loops.py project.project | FileCheck %s --check-prefix=AVX512 --implicit-check-not='{{(stores|calls)=[1-9]}}'
// RUN: attn-opt %s --emit=asm --target=x86-64-v3 | %python %S/loops.py project.project_1 | FileCheck %s --check-prefix=AVX2-PANELS --implicit-check-not='{{(stores|stack|calls)=[1-9]}}'
// RUN: attn-opt %s --emit=asm --target=x86-64-v4 | %python %S/loops.py project.project_1 | FileCheck %s --check-prefix=AVX512-PANELS --implicit-check-not='{{(stores|stack|calls)=[1-9]}}'
// RUN: attn-opt %s --emit=asm --target=aarch64 | %python %S/loops.py project.project_1 | FileCheck %s --check-prefix=NEON --implicit-check-not='{{(stores|calls)=[1-9]}}'
// AVX2: fma=48 {{.*}} stores=0 stack=0 calls=0 per-fma=1.7
// AVX2: fma=48 {{.*}} stores=8
// AVX512: fma=96 {{.*}} stores=0 stack=0 calls=0 per-fma=1.5
// AVX2-PANELS: fma=48 {{.*}} stores=0 stack=0 calls=0 per-fma=1.{{[78]}}
// AVX512-PANELS: fma=96 {{.*}} stores=0 stack=0 calls=0 per-fma=1.6
// AVX512-PANELS: fma=64 {{.*}} stores=0 stack=0 calls=0
// AVX512-PANELS: fma=48 {{.*}} stores=0 stack=0 calls=0
// NEON: fma=80 {{.*}} stores=0 {{.*}} calls=0 per-fma={{1\.[0-5].}}
func.func @project(%x: tensor<?x512xf32>, %w: tensor<512x1000xf32>, %b: tensor<1000xf32>) -> tensor<?x1000xf32> {
  %y = attn.project %x, %w, %b : (tensor<?x512xf32>, tensor<512x1000xf32>, tensor<1000xf32>) -> tensor<?x1000xf32>
  return %y : tensor<?x1000xf32>
}
