// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Static lengths, no mask: the number of tiles is a constant.
// RUN: attn-opt %s --attn-tile-keys --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: @f(
// CHECK: scf.for %{{.*}} = %c0 to %c3 step %c1
// CHECK: attn.online {{.*}} lengths %c16, %c20 mode full
// CHECK-NOT: attn.online
func.func @f(%s: !attn.state<16 x 4 x 6, f32>, %k: tensor<20x4xf32>, %v: tensor<20x6xf32>) -> !attn.state<16 x 4 x 6, f32> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c20 = arith.constant 20 : index
  %r = attn.online %s, %k, %v rows %c0 to %c16 keys from %c0 lengths %c16, %c20 mode full {schedule = #s}
      : <16 x 4 x 6, f32>, tensor<20x4xf32>, tensor<20x6xf32>
  return %r : !attn.state<16 x 4 x 6, f32>
}
