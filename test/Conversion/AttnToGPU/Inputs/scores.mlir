// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks, score functions, biases and sinks at the level of fragments. %k and what follows have the keys' length.

// sizes: 140,140
// batch: 1
func.func @window(%q: tensor<?x2x?x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>) -> tensor<?x2x?x32xf16> {
  %out = attn.sdpa %q, %k, %v scale 0.2 where window(left = 40, right = 3) : (tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> tensor<?x2x?x32xf16>
  return %out : tensor<?x2x?x32xf16>
}

// sizes: 70,140
// batch: 1
func.func @prefix(%q: tensor<?x2x?x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>) -> (tensor<?x2x?x32xf16>, tensor<?x2x?xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.2 where causal(top_left) or prefix(20) returning(out, lse) : (tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> (tensor<?x2x?x32xf16>, tensor<?x2x?xf32>)
  return %out, %lse : tensor<?x2x?x32xf16>, tensor<?x2x?xf32>
}

// sizes: 200,200
// batch: 1
func.func @sinkWindow(%q: tensor<?x2x?x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>) -> tensor<?x2x?x32xf16> {
  %out = attn.sdpa %q, %k, %v scale 0.2 where causal(top_left) and (sink(4) or window(left = 30, right = 0)) : (tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> tensor<?x2x?x32xf16>
  return %out : tensor<?x2x?x32xf16>
}

// sizes: 130,130
// batch: 1
func.func @chunked(%q: tensor<?x2x?x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>) -> tensor<?x2x?x32xf16> {
  %out = attn.sdpa %q, %k, %v scale 0.2 where chunked(48) and causal(top_left) : (tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> tensor<?x2x?x32xf16>
  return %out : tensor<?x2x?x32xf16>
}

// sizes: 70,200
// batch: 1
func.func @dilated(%q: tensor<?x2x?x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>) -> tensor<?x2x?x32xf16> {
  %out = attn.sdpa %q, %k, %v scale 0.2 where dilated(3) and window(left = 70, right = 70) : (tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> tensor<?x2x?x32xf16>
  return %out : tensor<?x2x?x32xf16>
}

// sizes: 70,70
// batch: 1
func.func @not_(%q: tensor<?x2x?x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>) -> tensor<?x2x?x32xf16> {
  %out = attn.sdpa %q, %k, %v scale 0.2 where not window(left = 9, right = 9) : (tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> tensor<?x2x?x32xf16>
  return %out : tensor<?x2x?x32xf16>
}

// sizes: 70,130
// batch: 1
func.func @keyLength(%q: tensor<?x2x?x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>, %n: tensor<1xi32>) -> (tensor<?x2x?x32xf16>, tensor<?x2x?xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.2 where causal(bottom_right) and key_length(%n : tensor<1xi32>) returning(out, lse) : (tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> (tensor<?x2x?x32xf16>, tensor<?x2x?xf32>)
  return %out, %lse : tensor<?x2x?x32xf16>, tensor<?x2x?xf32>
}

// sizes: 70,130
// batch: 1
func.func @offset(%q: tensor<?x2x?x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>) -> (tensor<?x2x?x32xf16>, tensor<?x2x?xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.2 where causal(offset = -20) returning(out, lse) : (tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> (tensor<?x2x?x32xf16>, tensor<?x2x?xf32>)
  return %out, %lse : tensor<?x2x?x32xf16>, tensor<?x2x?xf32>
}

// sizes: 70,130
// batch: 1
func.func @boolean(%q: tensor<?x2x?x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>, %m: tensor<?x?xi1>) -> (tensor<?x2x?x32xf16>, tensor<?x2x?xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.2 where %m : tensor<?x?xi1> returning(out, lse) : (tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> (tensor<?x2x?x32xf16>, tensor<?x2x?xf32>)
  return %out, %lse : tensor<?x2x?x32xf16>, tensor<?x2x?xf32>
}

// sizes: 70,130
// batch: 1
func.func @biasMatrix(%q: tensor<?x2x?x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>, %b: tensor<2x1x?xf32>) -> (tensor<?x2x?x32xf16>, tensor<?x2x?xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v bias %b : tensor<2x1x?xf32> scale 0.2 where causal(bottom_right) returning(out, lse) : (tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> (tensor<?x2x?x32xf16>, tensor<?x2x?xf32>)
  return %out, %lse : tensor<?x2x?x32xf16>, tensor<?x2x?xf32>
}

// sizes: 70,130
// batch: 1
func.func @softcap(%q: tensor<?x2x?x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>) -> (tensor<?x2x?x32xf16>, tensor<?x2x?xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.2 score_mod (%s: f32, %b, %h, %i, %j) {
    %cap = arith.constant 5.0 : f32
    %x = arith.divf %s, %cap : f32
    %t = math.tanh %x : f32
    %y = arith.mulf %t, %cap : f32
    attn.yield %y : f32
  } where causal(bottom_right) returning(out, lse) : (tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> (tensor<?x2x?x32xf16>, tensor<?x2x?xf32>)
  return %out, %lse : tensor<?x2x?x32xf16>, tensor<?x2x?xf32>
}

// sizes: 70,70
// batch: 1
func.func @distance(%q: tensor<?x2x?x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>) -> tensor<?x2x?x32xf16> {
  %out = attn.sdpa %q, %k, %v scale 0.2 score_mod (%s: f32, %b, %h, %i, %j) {
    %d = arith.subi %i, %j : index
    %n = arith.index_cast %d : index to i32
    %a = math.absi %n : i32
    %r = arith.sitofp %a : i32 to f32
    %f = math.log1p %r : f32
    %y = arith.subf %s, %f : f32
    attn.yield %y : f32
  } : (tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> tensor<?x2x?x32xf16>
  return %out : tensor<?x2x?x32xf16>
}

// sizes: 70,70
// batch: 1
func.func @table(%q: tensor<?x2x?x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>, %table: tensor<9xf32>) -> tensor<?x2x?x32xf16> {
  %out = attn.sdpa %q, %k, %v scale 0.2 score_mod (%s: f32, %b, %h, %i, %j) with (%t = %table : tensor<9xf32>) {
    %c4 = arith.constant 4 : index
    %d = arith.subi %j, %i : index
    %at = arith.addi %d, %c4 : index
    %x = tensor.extract %t[%at] : tensor<9xf32>
    %y = arith.addf %s, %x : f32
    attn.yield %y : f32
  } where causal(top_left) : (tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> tensor<?x2x?x32xf16>
  return %out : tensor<?x2x?x32xf16>
}

// sizes: 70,70
// batch: 1
func.func @sinks(%q: tensor<?x2x?x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>, %sinks: tensor<2xf32>) -> (tensor<?x2x?x32xf16>, tensor<?x2x?xf32>) {
  %out, %lse = attn.sdpa %q, %k, %v scale 0.2 where causal(top_left) sinks %sinks : tensor<2xf32> returning(out, lse) : (tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> (tensor<?x2x?x32xf16>, tensor<?x2x?xf32>)
  return %out, %lse : tensor<?x2x?x32xf16>, tensor<?x2x?xf32>
}

// A position of which a multiple counts, the other way round, and two in one function.
// sizes: 70,130 5,7
func.func @positions(%q: tensor<?x2x?x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>) -> tensor<?x2x?x32xf16> {
  %out = attn.sdpa %q, %k, %v scale 0.2 score_mod (%s: f32, %b, %h, %i, %j) {
    %c3 = arith.constant 3 : index
    %two = arith.addi %i, %i : index
    %x = arith.subi %two, %j : index
    %more = arith.addi %x, %c3 : index
    %n = arith.index_cast %more : index to i32
    %r = arith.sitofp %n : i32 to f32
    %jn = arith.index_cast %j : index to i32
    %jr = arith.sitofp %jn : i32 to f32
    %one = arith.constant 1.0 : f32
    %d = arith.addf %jr, %one : f32
    %f = arith.divf %r, %d : f32
    %c = arith.constant 0.02 : f32
    %g = arith.mulf %f, %c : f32
    %y = arith.subf %s, %g : f32
    attn.yield %y : f32
  } : (tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> tensor<?x2x?x32xf16>
  return %out : tensor<?x2x?x32xf16>
}

// Small values of tanh: their relative error counts.
// sizes: 70,130
func.func @small_tanh(%q: tensor<?x2x?x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>) -> tensor<?x2x?x32xf16> {
  %out = attn.sdpa %q, %k, %v scale 0.2 score_mod (%s: f32, %b, %h, %i, %j) {
    %c = arith.constant 1.0e6 : f32
    %x = arith.divf %s, %c : f32
    %t = math.tanh %x : f32
    %y = arith.mulf %t, %c : f32
    attn.yield %y : f32
  } : (tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> tensor<?x2x?x32xf16>
  return %out : tensor<?x2x?x32xf16>
}

// Finite scores beyond 2.36e38 are finite in units of log2, too: keys from 3 on have the weight 0, others the same.
// sizes: 20,37 5,2
func.func @large(%q: tensor<?x2x?x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>) -> tensor<?x2x?x32xf16> {
  %out = attn.sdpa %q, %k, %v scale 0.2 score_mod (%s: f32, %b, %h, %i, %j) {
    %c3 = arith.constant 3 : index
    %high = arith.constant 3.0e38 : f32
    %low = arith.constant -3.0e38 : f32
    %early = arith.cmpi slt, %j, %c3 : index
    %y = arith.select %early, %high, %low : f32
    attn.yield %y : f32
  } : (tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> tensor<?x2x?x32xf16>
  return %out : tensor<?x2x?x32xf16>
}

// A position cut off to 8 bits goes round, and constants that multiply to more than there are floats.
// sizes: 70,300
func.func @cut_off(%q: tensor<?x2x?x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>) -> tensor<?x2x?x32xf16> {
  %out = attn.sdpa %q, %k, %v scale 0.2 score_mod (%s: f32, %b, %h, %i, %j) {
    %d = arith.subi %j, %i : index
    %n = arith.index_cast %d : index to i8
    %r = arith.sitofp %n : i8 to f32
    %c = arith.constant 0.02 : f32
    %f = arith.mulf %r, %c : f32
    %small = arith.constant 1.0e-30 : f32
    %x = arith.mulf %s, %small : f32
    %y = arith.divf %x, %small : f32
    %z = arith.addf %y, %f : f32
    attn.yield %z : f32
  } : (tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> tensor<?x2x?x32xf16>
  return %out : tensor<?x2x?x32xf16>
}
