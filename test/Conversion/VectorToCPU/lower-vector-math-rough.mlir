// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With the flag afn, exp2 of f32 has a polynomial of degree 4; other flags and
// f64 change nothing.
// RUN: attn-opt %s --attn-lower-vector-math=scalef --canonicalize | FileCheck %s
// RUN: attn-opt %s --attn-lower-vector-math --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @rough(
// CHECK-DAG: arith.constant dense<1.000000e+00> : vector<16xf32>
// CHECK-DAG: arith.constant dense<0.693124175> : vector<16xf32>
// CHECK-DAG: arith.constant dense<0.240240991> : vector<16xf32>
// CHECK-DAG: arith.constant dense<0.0559064262> : vector<16xf32>
// CHECK-DAG: arith.constant dense<0.00958285294> : vector<16xf32>
// CHECK-COUNT-4: vector.fma
// CHECK-NOT: vector.fma
// CHECK: return
func.func @rough(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp2 %x fastmath<afn> : vector<16xf32>
  return %y : vector<16xf32>
}

// CHECK-LABEL: func.func @other_flags(
// CHECK-COUNT-5: vector.fma
// CHECK-NOT: vector.fma
// CHECK: return
func.func @other_flags(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp2 %x fastmath<nnan,contract> : vector<16xf32>
  return %y : vector<16xf32>
}

// CHECK-LABEL: func.func @double(
// CHECK-COUNT-13: vector.fma
// CHECK-NOT: vector.fma
// CHECK: return
func.func @double(%x: vector<8xf64>) -> vector<8xf64> {
  %y = math.exp2 %x fastmath<afn> : vector<8xf64>
  return %y : vector<8xf64>
}
