// RUN: attn-reference %s | FileCheck %s
// Every term, on scores of 1 so that -inf shows what is excluded. NaN scores show
// that an excluded score is not looked at.

// CHECK-LABEL: @causal
// CHECK-NEXT{LITERAL}: [[1, -inf, -inf], [1, 1, -inf]]
// CHECK-NEXT{LITERAL}: [[1, 1, -inf], [1, 1, 1]]
// CHECK-NEXT{LITERAL}: [[-inf, -inf, -inf], [1, -inf, -inf]]
func.func @causal() -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %s = arith.constant dense<1.0> : tensor<2x3xf32>
  %nan = arith.constant dense<[[1.0, 0x7FC00000, 0x7FC00000], [1.0, 1.0, 0x7FC00000]]> : tensor<2x3xf32>
  %a = attn.mask %nan where causal(top_left) : tensor<2x3xf32>
  %b = attn.mask %s where causal(bottom_right) : tensor<2x3xf32>
  %c = attn.mask %s where causal(offset = -1) : tensor<2x3xf32>
  return %a, %b, %c : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// Integers per entry of the leading dimension, or one for all.
// CHECK-LABEL: @per_batch
// CHECK-NEXT{LITERAL}: [[[[1, -inf]]], [[[1, 1]]], [[[-inf, -inf]]]]
// CHECK-NEXT{LITERAL}: [[[[1, -inf]]], [[[1, -inf]]], [[[1, -inf]]]]
// CHECK-NEXT{LITERAL}: [[[[1, -inf]]], [[[1, 1]]], [[[-inf, -inf]]]]
func.func @per_batch() -> (tensor<3x1x1x2xf32>, tensor<3x1x1x2xf32>, tensor<3x1x1x2xf32>) {
  %s = arith.constant dense<1.0> : tensor<3x1x1x2xf32>
  %len = arith.constant dense<[1, 2, 0]> : tensor<3xi32>
  %one = arith.constant dense<1> : tensor<i64>
  %start = arith.constant dense<[0, 1, -1]> : tensor<3xi32>
  %a = attn.mask %s where key_length(%len : tensor<3xi32>) : tensor<3x1x1x2xf32>
  %b = attn.mask %s where key_length(%one : tensor<i64>) : tensor<3x1x1x2xf32>
  %c = attn.mask %s where causal(offset = %start : tensor<3xi32>) : tensor<3x1x1x2xf32>
  return %a, %b, %c : tensor<3x1x1x2xf32>, tensor<3x1x1x2xf32>, tensor<3x1x1x2xf32>
}

// bottom_right counts from the last live key: of 2 here, for 2 queries. Under
// `or` a key_length is no statement about the data: of 4 there.
// CHECK-LABEL: @live_keys
// CHECK-NEXT{LITERAL}: [[1, -inf, -inf, -inf], [1, 1, -inf, -inf]]
// CHECK-NEXT{LITERAL}: [[1, 1, 1, -inf], [1, 1, 1, 1]]
func.func @live_keys() -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %s = arith.constant dense<1.0> : tensor<2x4xf32>
  %len = arith.constant dense<2> : tensor<i32>
  %a = attn.mask %s where causal(bottom_right) and key_length(%len : tensor<i32>) : tensor<2x4xf32>
  %b = attn.mask %s where causal(bottom_right) or key_length(%len : tensor<i32>) : tensor<2x4xf32>
  return %a, %b : tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: @allowed
// CHECK-NEXT{LITERAL}: [[[1, -inf], [1, -inf]], [[1, -inf], [1, -inf]]]
// CHECK-NEXT{LITERAL}: [[[1, 1], [1, 1]], [[-inf, -inf], [-inf, -inf]]]
func.func @allowed() -> (tensor<2x2x2xf32>, tensor<2x2x2xf32>) {
  %s = arith.constant dense<1.0> : tensor<2x2x2xf32>
  %keys = arith.constant dense<[true, false]> : tensor<2xi1>
  %heads = arith.constant dense<[[[true]], [[false]]]> : tensor<2x1x1xi1>
  %a = attn.mask %s where %keys : tensor<2xi1> : tensor<2x2x2xf32>
  %b = attn.mask %s where %heads : tensor<2x1x1xi1> : tensor<2x2x2xf32>
  return %a, %b : tensor<2x2x2xf32>, tensor<2x2x2xf32>
}

// CHECK-LABEL: @combined
// CHECK-NEXT{LITERAL}: [[-inf, 1, 1], [-inf, -inf, 1]]
// CHECK-NEXT{LITERAL}: [[-inf, 1, -inf], [-inf, -inf, -inf]]
// CHECK-NEXT{LITERAL}: [[1, -inf, 1], [1, 1, 1]]
func.func @combined() -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %s = arith.constant dense<1.0> : tensor<2x3xf32>
  %last = arith.constant dense<[false, false, true]> : tensor<3xi1>
  %a = attn.mask %s where not causal(top_left) : tensor<2x3xf32>
  %b = attn.mask %s where not (causal(top_left) or %last : tensor<3xi1>) : tensor<2x3xf32>
  %c = attn.mask %s where causal(top_left) or %last : tensor<3xi1> : tensor<2x3xf32>
  return %a, %b, %c : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// Terms with numbers: a window of the past, one that counts from the last key, a
// prefix, chunks, every second key.
// CHECK-LABEL: @numbers
// CHECK-NEXT{LITERAL}: [[1, -inf, -inf, -inf], [1, 1, -inf, -inf], [-inf, 1, 1, -inf]]
// CHECK-NEXT{LITERAL}: [[-inf, 1, 1, 1], [-inf, -inf, 1, 1], [-inf, -inf, -inf, 1]]
// CHECK-NEXT{LITERAL}: [[1, 1, -inf, -inf], [1, 1, -inf, -inf], [1, 1, 1, -inf]]
// CHECK-NEXT{LITERAL}: [[1, 1, -inf, -inf], [1, 1, -inf, -inf], [-inf, -inf, 1, 1]]
// CHECK-NEXT{LITERAL}: [[-inf, 1, -inf, 1], [1, -inf, 1, -inf], [-inf, 1, -inf, 1]]
func.func @numbers() -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
  %s = arith.constant dense<1.0> : tensor<3x4xf32>
  %n = arith.constant dense<2> : tensor<i32>
  %a = attn.mask %s where window(left = 1, right = 0) : tensor<3x4xf32>
  %b = attn.mask %s where window(left = 0, bottom_right) : tensor<3x4xf32>
  %c = attn.mask %s where prefix(%n : tensor<i32>) or causal(top_left) and sink(3) : tensor<3x4xf32>
  %d = attn.mask %s where chunked(2) : tensor<3x4xf32>
  %e = attn.mask %s where dilated(2, offset = 1) : tensor<3x4xf32>
  return %a, %b, %c, %d, %e : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
}

// Terms with tables: a bitmap of blocks, a tree of 2 draft tokens behind 2 keys,
// documents by number and by where they begin, and a predicate.
// CHECK-LABEL: @tables
// CHECK-NEXT{LITERAL}: [[-inf, -inf, 1, 1], [-inf, -inf, 1, 1], [1, 1, -inf, -inf]]
// CHECK-NEXT{LITERAL}: [[1, 1, -inf, -inf], [1, 1, 1, -inf], [1, 1, 1, 1]]
// CHECK-NEXT{LITERAL}: [[1, -inf, -inf, -inf], [1, -inf, -inf, -inf], [-inf, 1, 1, -inf]]
// CHECK-NEXT{LITERAL}: [[-inf, -inf, -inf, -inf], [-inf, 1, 1, -inf], [-inf, 1, 1, -inf]]
// CHECK-NEXT{LITERAL}: [[1, -inf, -inf, -inf], [-inf, 1, -inf, -inf], [-inf, -inf, 1, -inf]]
func.func @tables() -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
  %s = arith.constant dense<1.0> : tensor<3x4xf32>
  %tree = arith.constant dense<[1, 3]> : tensor<2xi32>
  %rows = arith.constant dense<[0, 0, 7]> : tensor<3xi32>
  %keys = arith.constant dense<[0, 7, 7, 8]> : tensor<4xi32>
  %starts = arith.constant dense<[1, 3, 3]> : tensor<3xi64>
  %a = attn.mask %s where block(2, 2, bits = [[0, 1], [1, 0]]) : tensor<3x4xf32>
  %b = attn.mask %s where tree(2, %tree : tensor<2xi32>) : tensor<3x4xf32>
  %c = attn.mask %s where document(%rows : tensor<3xi32>, %keys : tensor<4xi32>) : tensor<3x4xf32>
  %d = attn.mask %s where document(cumulative %starts : tensor<3xi64>) : tensor<3x4xf32>
  %e = attn.mask_fn %s (%x, %y, %q, %k) {
    %same = arith.cmpi eq, %q, %k : index
    attn.yield %same : i1
  } : tensor<3x4xf32>
  return %a, %b, %c, %d, %e : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
}

// Of a fused attention: a query sees the keys that are nearer than its number.
// Behind the table's end its last element is read.
// CHECK-LABEL: @predicate_of_table
// CHECK-NEXT{LITERAL}: [[1, 0, 0], [0.5, 0.5, 0], [0, 0.5, 0.5]]
func.func @predicate_of_table() -> tensor<3x3xf32> {
  %q = arith.constant dense<1.0> : tensor<3x1xf32>
  %v = arith.constant dense<[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]> : tensor<3x3xf32>
  %widths = arith.constant dense<[1, 2]> : tensor<2xi32>
  %out = attn.sdpa %q, %q, %v scale 1.0 where predicate(#attn.program<inputs = [tensor<2xi32>], <"arith.subi", [2, 3], {}, index>, <"tensor.extract", [4, 2], {}, i32>, <"arith.index_cast", [6], {}, index>, <"arith.cmpi", [5, 7], {predicate = 6 : i64}, i1>>, %widths : tensor<2xi32>) : (tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return %out : tensor<3x3xf32>
}
