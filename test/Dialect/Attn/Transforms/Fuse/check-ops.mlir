// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What has no lowering is refused by name, the outermost op only; types of numbers as well. Private functions are our own.
// (test/Integration/ops.py runs the whole list.)
// RUN: attn-opt %s --pass-pipeline='builtin.module(func.func(attn-check-ops))' --split-input-file --verify-diagnostics

func.func @accepted(%x: tensor<?x8xf16>, %e: tensor<?x8xf16>) -> tensor<?x8xf16> {
  %0 = math.tanh %x : tensor<?x8xf16>
  %1 = linalg.exp ins(%0 : tensor<?x8xf16>) outs(%e : tensor<?x8xf16>) -> tensor<?x8xf16>
  %2 = attn.rms_norm %1 eps 1.0e-6 : tensor<?x8xf16>
  return %2 : tensor<?x8xf16>
}

// -----

func.func @math(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'math.cbrt' op is not supported: attn-opt has no lowering for it}}
  %0 = math.cbrt %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @outermost(%x: tensor<8xf32>, %v: f32) -> tensor<8xf32> {
  // expected-error@+1 {{'affine.for' op is not supported: attn-opt has no lowering for it}}
  %r = affine.for %i = 0 to 4 iter_args(%a = %x) -> tensor<8xf32> {
    %b = tensor.insert %v into %a[%i] : tensor<8xf32>
    affine.yield %b : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

func.func @types(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'arith.truncf' op is not supported with values of type 'tensor<8xf8E5M2>'}}
  %a = arith.truncf %x : tensor<8xf32> to tensor<8xf8E5M2>
  %r = arith.extf %a : tensor<8xf8E5M2> to tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func private @own(%x: memref<8xf32>, %i: index) -> f32 {
  %r = memref.load %x[%i] : memref<8xf32>
  return %r : f32
}
