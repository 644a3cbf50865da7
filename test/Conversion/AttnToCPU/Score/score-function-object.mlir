// RUN: attn-opt %s --emit=obj --target=x86-64 -o %t.sse2.o
// RUN: attn-opt %s --emit=obj --target=x86-64-v4 -o %t.avx512.o
// RUN: attn-opt %s --emit=obj --target=aarch64 -o %t.neon.o
// RUN: llvm-nm --undefined-only --just-symbol-name %t.sse2.o | FileCheck %s
// RUN: llvm-nm --undefined-only --just-symbol-name %t.avx512.o | FileCheck %s
// RUN: llvm-nm --undefined-only --just-symbol-name %t.neon.o | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// No function of the C library is called for what a score function calls, also where rounding and FMA are no instructions.

// CHECK:      attn_rt_give_workspace
// CHECK-NEXT: attn_rt_max_threads
// CHECK-NEXT: attn_rt_parallel_for
// CHECK-NEXT: attn_rt_take_workspace
// CHECK-NOT:  {{.}}

func.func @f(%q: tensor<?x1xf32>, %k: tensor<1x1xf32>) -> (tensor<?x1xf32>) {
  %o = attn.sdpa %q, %k, %k scale 1.0 score_mod (%x: f32, %b, %h, %i, %j) {
    %0 = math.floor %x : f32
    %1 = math.powf %0, %x : f32
    %2 = math.sin %1 : f32
    %3 = math.erf %2 : f32
    %4 = math.log1p %3 : f32
    %5 = math.fma %4, %x, %1 : f32
    %6 = math.rsqrt %5 : f32
    %7 = math.round %6 : f32
    %8 = math.exp %7 : f32
    %9 = math.tanh %8 : f32
    %10 = math.expm1 %9 : f32
    %11 = math.exp2 %10 : f32
    %12 = arith.maximumf %11, %10 : f32
    %13 = arith.minnumf %12, %9 : f32
    attn.yield %13 : f32
  } : (tensor<?x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>) -> (tensor<?x1xf32>)
  return %o : tensor<?x1xf32>
}

func.func @d(%q: tensor<?x1xf64>, %k: tensor<1x1xf64>) -> (tensor<?x1xf64>) {
  %o = attn.sdpa %q, %k, %k scale 1.0 score_mod (%x: f64, %b, %h, %i, %j) {
    %0 = math.floor %x : f64
    %1 = math.powf %0, %x : f64
    %2 = math.sin %1 : f64
    %3 = math.erf %2 : f64
    %4 = math.log1p %3 : f64
    %5 = math.fma %4, %x, %1 : f64
    %6 = math.rsqrt %5 : f64
    %7 = math.round %6 : f64
    %8 = math.exp %7 : f64
    %9 = math.tanh %8 : f64
    %10 = math.expm1 %9 : f64
    %11 = math.exp2 %10 : f64
    %12 = arith.maximumf %11, %10 : f64
    %13 = math.cos %12 : f64
    %14 = math.log2 %13 : f64
    %15 = arith.minnumf %14, %9 : f64
    attn.yield %15 : f64
  } : (tensor<?x1xf64>, tensor<1x1xf64>, tensor<1x1xf64>) -> (tensor<?x1xf64>)
  return %o : tensor<?x1xf64>
}
