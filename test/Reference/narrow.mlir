// RUN: attn-reference %s | FileCheck %s
// RUN: attn-reference %s --narrow | FileCheck %s --check-prefix=NARROW
// All is f64 unless --narrow rounds each result to its type.

// CHECK: 1.00000001
// CHECK-NEXT: [257]
// NARROW: 1{{$}}
// NARROW-NEXT: [256]
func.func @narrow() -> (f32, tensor<1xbf16>) {
  %one = arith.constant 1.0 : f64
  %little = arith.constant 1.0e-8 : f64
  %sum = arith.addf %one, %little : f64
  %f32 = arith.truncf %sum : f64 to f32
  %x = arith.constant dense<256.0> : tensor<1xbf16>
  %y = arith.constant dense<1.0> : tensor<1xbf16>
  %bf16 = arith.addf %x, %y : tensor<1xbf16>
  return %f32, %bf16 : f32, tensor<1xbf16>
}
