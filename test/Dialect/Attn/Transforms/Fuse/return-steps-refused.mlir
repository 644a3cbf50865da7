// Attentions that no picture shows; two maps and several are in test/Driver/lab.test.
// RUN: attn-opt %s --attn-return-steps --split-input-file --verify-diagnostics

func.func @sinks(%q: tensor<2x8x4xf32>, %s: tensor<2xf32>) -> tensor<2x8x4xf32> {
  // expected-error@+1 {{has sinks, which no picture shows}}
  %out = attn.sdpa %q, %q, %q scale 0.5 sinks %s : tensor<2xf32> : (tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  return %out : tensor<2x8x4xf32>
}

// -----

func.func @layout(%q: tensor<8x2x4xf32>) -> tensor<8x2x4xf32> {
  // expected-error@+1 {{has tokens in front of heads (layout bshd), which no picture shows}}
  %out = attn.sdpa %q, %q, %q scale 0.5 {query_layout = #attn<layout bshd>, key_layout = #attn<layout bshd>, value_layout = #attn<layout bshd>, out_layout = #attn<layout bshd>}
      : (tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2x4xf32>) -> tensor<8x2x4xf32>
  return %out : tensor<8x2x4xf32>
}

// -----

func.func @loop(%q: tensor<8x4xf32>, %n: index) -> tensor<8x4xf32> {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %r = scf.for %i = %0 to %n step %1 iter_args(%x = %q) -> (tensor<8x4xf32>) {
    // expected-error@+1 {{stands in a loop, which no picture shows}}
    %out = attn.sdpa %x, %q, %q scale 0.5 : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    scf.yield %out : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}
