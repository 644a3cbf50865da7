// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of bf16 with a constant: 8 x 3 dot products of pairs in four turns, or
// 2 x 2 products of tiles, whose loops load four tiles. No spill, no store, no call
// in the loops of whole blocks.
// RUN: attn-opt %s --emit=asm --target=znver4 | %python %S/loops.py project.project | FileCheck %s --check-prefix=PAIRS
// RUN: attn-opt %s --emit=asm --target=sapphirerapids -o %t.s
// RUN: %python %S/loops.py project.project < %t.s | FileCheck %s --check-prefix=TILES
// RUN: sed -n '/^project.project:/,/func_end/p' %t.s | FileCheck %s --check-prefix=ONCE
// RUN: attn-opt %s --emit=asm --target=sapphirerapids --generic-ops -o %t.none.s
// RUN: sed -n '/^project.project:/,/func_end/p' %t.none.s | FileCheck %s --check-prefix=NONE
// PAIRS: dot=96 {{.*}} stores=0 stack=0 calls=0 per-dot=1.{{[56]}}
// TILES: tile=4 {{.*}} loads=4 stores=0 stack=0 calls=0
// ONCE: ldtilecfg
// ONCE-NOT: ldtilecfg
// ONCE: tileloaddt1
// ONCE: tdpbf16ps
// ONCE: tilerelease
// NONE-NOT: {{tdpbf16ps|vdpbf16ps}}
func.func @project(%x: tensor<?x512xbf16>, %b: tensor<512xf32>) -> tensor<?x512xbf16> {
  %w = arith.constant dense<2.0> : tensor<512x512xbf16>
  %y = attn.project %x, %w, %b : (tensor<?x512xbf16>, tensor<512x512xbf16>, tensor<512xf32>) -> tensor<?x512xbf16>
  return %y : tensor<?x512xbf16>
}
