// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What LLVM would end the process at; all of it, so that users see all reasons.
//
// RUN: attn-opt %s --attn-check-gpu-ops --verify-diagnostics
llvm.func @extern(f32) -> f32

llvm.func @kernel(%x: f32, %n: i32) -> f32 attributes {nvvm.kernel} {
  %0 = llvm.intr.sqrt(%x) : (f32) -> f32
  %1 = llvm.intr.fma(%0, %x, %x) : (f32, f32, f32) -> f32
  // expected-error @+1 {{'llvm.intr.pow' op is not built for a GPU}}
  %2 = llvm.intr.pow(%0, %1) : (f32, f32) -> f32
  // expected-error @+1 {{'llvm.intr.log2' op is not built for a GPU}}
  %3 = llvm.intr.log2(%2) : (f32) -> f32
  // expected-error @+1 {{'llvm.call' op is not built for a GPU}}
  %4 = llvm.call @extern(%3) : (f32) -> f32
  llvm.return %4 : f32
}
