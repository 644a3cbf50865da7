// RUN: attn-reference %s | FileCheck %s
// One textbook step each, with numbers worked out by hand.

// CHECK-LABEL: @scores
// CHECK-NEXT{LITERAL}: [[11, -1], [25, -1]]
func.func @scores() -> tensor<2x2xf32> {
  %q = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %k = arith.constant dense<[[3.0, 4.0], [1.0, -1.0]]> : tensor<2x2xf32>
  %s = attn.scores %q, %k : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %s : tensor<2x2xf32>
}

// Query heads 0, 1 share key head 0, and 2, 3 share key head 1.
// CHECK-LABEL: @grouped_scores
// CHECK-NEXT{LITERAL}: [[[10, 20]], [[20, 40]], [[90, 120]], [[120, 160]]]
func.func @grouped_scores() -> tensor<4x1x2xf32> {
  %q = arith.constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]> : tensor<4x1x1xf32>
  %k = arith.constant dense<[[[10.0], [20.0]], [[30.0], [40.0]]]> : tensor<2x2x1xf32>
  %s = attn.scores %q, %k : (tensor<4x1x1xf32>, tensor<2x2x1xf32>) -> tensor<4x1x2xf32>
  return %s : tensor<4x1x2xf32>
}

// CHECK-LABEL: @scale
// CHECK-NEXT: [0.5, -inf, nan]
func.func @scale() -> tensor<3xf32> {
  %s = arith.constant dense<[2.0, 0xFF800000, 0x7FC00000]> : tensor<3xf32>
  %r = attn.scale %s by 0.25 : tensor<3xf32>
  return %r : tensor<3xf32>
}

// A bias of -inf excludes, whatever the score is; a large one is only added.
// CHECK-LABEL: @bias
// CHECK-NEXT{LITERAL}: [[2, -inf, -1e+09], [5, -inf, inf]]
func.func @bias() -> tensor<2x3xf32> {
  %s = arith.constant dense<[[1.0, 0x7FC00000, 0.0], [4.0, 0x7F800000, 0x7F800000]]> : tensor<2x3xf32>
  %b = arith.constant dense<[1.0, 0xFF800000, -1.0e9]> : tensor<3xf32>
  %r = attn.bias %s, %b : tensor<2x3xf32>, tensor<3xf32>
  return %r : tensor<2x3xf32>
}

// exp(-ln 3) = 1/3 beside 1: 1/4 and 3/4. A row without a score has weights 0; a
// NaN reaches all that its row sees, and nothing else.
// CHECK-LABEL: @softmax
// CHECK-NEXT{LITERAL}: [[0.25, 0.75, 0], [0, 0, 0], [nan, 0, nan], [0.5, 0, 0.5]]
func.func @softmax() -> tensor<4x3xf64> {
  %s = arith.constant dense<[
    [0.0, 1.0986122886681098, 0xFFF0000000000000],
    [0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000],
    [1.0, 0xFFF0000000000000, 0x7FF8000000000000],
    [1000.0, 0.0, 1000.0]]> : tensor<4x3xf64>
  %w = attn.softmax %s : tensor<4x3xf64>
  return %w : tensor<4x3xf64>
}

// A weight of 0 hides even a NaN.
// CHECK-LABEL: @context
// CHECK-NEXT{LITERAL}: [[2.5, 25], [nan, inf]]
func.func @context() -> tensor<2x2xf32> {
  %w = arith.constant dense<[[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]> : tensor<2x3xf32>
  %v = arith.constant dense<[[1.0, 10.0], [4.0, 40.0], [0x7FC00000, 0x7F800000]]> : tensor<3x2xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %o : tensor<2x2xf32>
}

// CHECK-LABEL: @project
// CHECK-NEXT{LITERAL}: [[[101, 202], [103, 204]]]
// CHECK-NEXT{LITERAL}: [[[1, 2], [3, 4]]]
func.func @project() -> (tensor<1x2x2xf32>, tensor<1x2x2xf32>) {
  %x = arith.constant dense<[[[1.0, 2.0, 9.0], [3.0, 4.0, 9.0]]]> : tensor<1x2x3xf32>
  %w = arith.constant dense<[[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]> : tensor<3x2xf32>
  %b = arith.constant dense<[100.0, 200.0]> : tensor<2xf32>
  %y = attn.project %x, %w, %b : (tensor<1x2x3xf32>, tensor<3x2xf32>, tensor<2xf32>) -> tensor<1x2x2xf32>
  %z = attn.project %x, %w : (tensor<1x2x3xf32>, tensor<3x2xf32>) -> tensor<1x2x2xf32>
  return %y, %z : tensor<1x2x2xf32>, tensor<1x2x2xf32>
}

// CHECK-LABEL: @heads
// CHECK-NEXT{LITERAL}: [[[1, 2], [5, 6]], [[3, 4], [7, 8]]]
// CHECK-NEXT{LITERAL}: [[1, 2, 3, 4], [5, 6, 7, 8]]
func.func @heads() -> (tensor<2x2x2xf32>, tensor<2x4xf32>) {
  %x = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %s = attn.split_heads %x into 2 : tensor<2x4xf32> -> tensor<2x2x2xf32>
  %m = attn.merge_heads %s : tensor<2x2x2xf32> -> tensor<2x4xf32>
  return %s, %m : tensor<2x2x2xf32>, tensor<2x4xf32>
}
