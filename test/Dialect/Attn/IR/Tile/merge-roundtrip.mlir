// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two states become one.
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// CHECK-LABEL: func @merge
// CHECK: attn.merge %{{.*}}, %{{.*}} {schedule = #attn.cpu_schedule<{{.*}}>} : <16 x 4 x 8, f64>
func.func @merge(%a: !attn.state<16 x 4 x 8, f64>, %b: !attn.state<16 x 4 x 8, f64>) -> !attn.state<16 x 4 x 8, f64> {
  %c = attn.merge %a, %b {schedule = #s} : !attn.state<16 x 4 x 8, f64>
  return %c : !attn.state<16 x 4 x 8, f64>
}
