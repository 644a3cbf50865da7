// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of pairs with a mask: scores of the edge are looked at pair by pair, which multiplies nothing.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize --cse | FileCheck %s
#d = #attn.cpu_schedule<lanes = 8, rows = 2, vectors = 2, query_tile = 8, key_tile = 16, unroll = 1, prefetch = 0, kind = decode, split_keys = 64, products = dot>

// CHECK-LABEL: func.func private @f.decode_online_edge(
// CHECK: vector.contract
// CHECK: scf.for
// CHECK: %[[SCORE:.*]] = vector.load {{.*}} : memref<2x96xf32, {{.*}}>, vector<1xf32>
// CHECK-NOT: arith.mulf
// CHECK: arith.cmpi sge, {{.*}} : vector<1xi32>
// CHECK: arith.select %{{.*}}, %[[SCORE]], %{{.*}} : vector<1xi1>, vector<1xf32>
func.func private @f.kernel(%q: memref<?x16xbf16>, %k: memref<?x16xbf16>, %v: memref<?x32xbf16>, %sq: index, %first: index, %skv: index) {
  %c0 = arith.constant 0 : index
  %s = attn.init_state %q scale -0.5 {schedule = #d} : memref<?x16xbf16> -> !attn.state<8 x 16 x 32, f32, decode>
  %n = attn.online %s, %k, %v rows %c0 to %sq keys from %first lengths %sq, %skv where causal(bottom_right) mode edge {heads = 2 : i64, schedule = #d}
      : !attn.state<8 x 16 x 32, f32, decode>, memref<?x16xbf16>, memref<?x32xbf16>
  return
}
