// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A schedule that pins pairs for a single query takes a block of queries all the
// same: there is no way of pairs through the code for one.
// RUN: attn-opt %s --convert-attn-to-cpu | FileCheck %s
#d = #attn.cpu_schedule<lanes = 8, rows = 2, vectors = 2, query_tile = 1, key_tile = 16, unroll = 1, prefetch = 0, kind = decode, split_keys = 64, products = dot>

// CHECK-LABEL: func.func private @f.decode_online_full(
// CHECK-NOT: vector.fma
// CHECK: vector.contract
// CHECK-NOT: arith.extf
// CHECK: vector.shuffle %[[X:.*]], %[[Y:.*]] [0, 16, 1, 17, 2, 18, 3, 19, 8, 24,
// CHECK-LABEL: func.func private @f.kernel
func.func private @f.kernel(%q: memref<?x16xbf16>, %k: memref<?x16xbf16>, %v: memref<?x32xbf16>, %sq: index, %first: index, %skv: index) {
  %c0 = arith.constant 0 : index
  %s = attn.init_state %q scale 0.5 {schedule = #d} : memref<?x16xbf16> -> !attn.state<1 x 16 x 32, f32, decode>
  %n = attn.online %s, %k, %v rows %c0 to %sq keys from %first lengths %sq, %skv mode full {heads = 1 : i64, schedule = #d}
      : !attn.state<1 x 16 x 32, f32, decode>, memref<?x16xbf16>, memref<?x32xbf16>
  return
}
