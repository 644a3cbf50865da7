// RUN: attn-reference %s | FileCheck %s
// Tile ops composed by hand mean the same as attn.sdpa.

#schedule = #attn.cpu_schedule<lanes = 1, rows = 1, vectors = 1, query_tile = 4, key_tile = 2, unroll = 1, prefetch = 0>
#panels = #attn.cpu_schedule<lanes = 2, rows = 1, vectors = 1, query_tile = 4, key_tile = 2, unroll = 1, prefetch = 0>
!state = !attn.state<4 x 2 x 1, f64>

// 3 queries see 4 keys, of which the mask allows query i the keys up to i + 1,
// in tiles of 2. The bias and the mask are looked at with absolute indices.
// CHECK-LABEL: @online
// CHECK-NEXT: [[OUT:.+]]
// CHECK-NEXT: [[LSE:.+]]
// CHECK-NEXT: [[WEIGHTS:.+]]
// CHECK-NEXT: [[SCORES:.+]]
// CHECK-NEXT: [[OUT]]
// CHECK-NEXT: [[LSE]]
// CHECK-NEXT: [[WEIGHTS]]
// CHECK-NEXT: [[SCORES]]
func.func @online() -> (tensor<3x1xf64>, tensor<3xf64>, tensor<3x4xf64>, tensor<3x4xf64>,
                        tensor<3x1xf64>, tensor<3xf64>, tensor<3x4xf64>, tensor<3x4xf64>) {
  %q = arith.constant dense<[[0.5, 1.0], [-2.0, 3.0], [1.5, -0.25]]> : tensor<3x2xf64>
  %k = arith.constant dense<[[1.0, 2.0], [-1.0, 0.5], [3.0, 0.0], [0.25, -4.0]]> : tensor<4x2xf64>
  %v = arith.constant dense<[[1.0], [10.0], [100.0], [1000.0]]> : tensor<4x1xf64>
  %b = arith.constant dense<[[0.5, -0.5, 1.0, 2.0]]> : tensor<1x4xf64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %s0 = attn.init_state %q scale 0.5 {schedule = #schedule} : tensor<3x2xf64> -> !state
  %s = scf.for %j = %c0 to %c4 step %c2 iter_args(%s = %s0) -> (!state) {
    %kt = tensor.extract_slice %k[%j, 0] [2, 2] [1, 1] : tensor<4x2xf64> to tensor<2x2xf64>
    %vt = tensor.extract_slice %v[%j, 0] [2, 1] [1, 1] : tensor<4x1xf64> to tensor<2x1xf64>
    %n = attn.online %s, %kt, %vt rows %c0 to %c3 keys from %j lengths %c3, %c4 bias %b : tensor<1x4xf64>
        where causal(bottom_right) mode edge {schedule = #schedule} : !state, tensor<2x2xf64>, tensor<2x1xf64>
    scf.yield %n : !state
  }
  %oe = tensor.empty() : tensor<3x1xf64>
  %le = tensor.empty() : tensor<3xf64>
  %o, %l = attn.finalize %s outs(%oe, %le : tensor<3x1xf64>, tensor<3xf64>) {schedule = #schedule} : !state -> tensor<3x1xf64>, tensor<3xf64>
  %we = tensor.empty() : tensor<3x4xf64>
  %w, %x = scf.for %j = %c0 to %c4 step %c2 iter_args(%wi = %we, %xi = %we) -> (tensor<3x4xf64>, tensor<3x4xf64>) {
    %kt = tensor.extract_slice %k[%j, 0] [2, 2] [1, 1] : tensor<4x2xf64> to tensor<2x2xf64>
    %wt = tensor.extract_slice %wi[0, %j] [3, 2] [1, 1] : tensor<3x4xf64> to tensor<3x2xf64>
    %xt = tensor.extract_slice %xi[0, %j] [3, 2] [1, 1] : tensor<3x4xf64> to tensor<3x2xf64>
    %wo, %xo = attn.weigh %s, %kt rows %c0 to %c3 keys from %j lengths %c3, %c4 scale 0.5 bias %b : tensor<1x4xf64>
        where causal(bottom_right) weights %wt : tensor<3x2xf64> scores %xt : tensor<3x2xf64>
        {schedule = #schedule, stage = #attn<scores_stage raw>} : !state, tensor<2x2xf64> -> tensor<3x2xf64>, tensor<3x2xf64>
    %wn = tensor.insert_slice %wo into %wi[0, %j] [3, 2] [1, 1] : tensor<3x2xf64> into tensor<3x4xf64>
    %xn = tensor.insert_slice %xo into %xi[0, %j] [3, 2] [1, 1] : tensor<3x2xf64> into tensor<3x4xf64>
    scf.yield %wn, %xn : tensor<3x4xf64>, tensor<3x4xf64>
  }
  %so, %sl, %sw, %sx = attn.sdpa %q, %k, %v bias %b : tensor<1x4xf64> scale 0.5 where causal(bottom_right)
      returning(out, lse, weights, scores) {scores_stage = #attn<scores_stage raw>}
      : (tensor<3x2xf64>, tensor<4x2xf64>, tensor<4x1xf64>) -> (tensor<3x1xf64>, tensor<3xf64>, tensor<3x4xf64>, tensor<3x4xf64>)
  return %so, %sl, %sw, %sx, %o, %l, %w, %x : tensor<3x1xf64>, tensor<3xf64>, tensor<3x4xf64>, tensor<3x4xf64>,
      tensor<3x1xf64>, tensor<3xf64>, tensor<3x4xf64>, tensor<3x4xf64>
}

// Two halves of the keys, merged in both orders; a state that has seen nothing
// changes nothing. Scores are ln 1 .. ln 4, so out = (1+8+27+64)/10, lse = ln 10.
// CHECK-LABEL: @merge
// CHECK-COUNT-4: {{^}}{{\[\[}}10]]
// CHECK-NEXT: [2.30258509]
// CHECK-NEXT: {{\[\[}}0]]
// CHECK-NEXT: [-inf]
func.func @merge() -> (tensor<1x1xf64>, tensor<1x1xf64>, tensor<1x1xf64>, tensor<1x1xf64>, tensor<1xf64>, tensor<1x1xf64>, tensor<1xf64>) {
  %q = arith.constant dense<[[1.0, 0.0]]> : tensor<1x2xf64>
  %k1 = arith.constant dense<[[0.0, 5.0], [0.6931471805599453, 5.0]]> : tensor<2x2xf64>
  %k2 = arith.constant dense<[[1.0986122886681098, 5.0], [1.3862943611198906, 5.0]]> : tensor<2x2xf64>
  %v1 = arith.constant dense<[[1.0], [4.0]]> : tensor<2x1xf64>
  %v2 = arith.constant dense<[[9.0], [16.0]]> : tensor<2x1xf64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %none = attn.init_state %q scale 1.0 {schedule = #schedule} : tensor<1x2xf64> -> !state
  %a = attn.online %none, %k1, %v1 rows %c0 to %c1 keys from %c0 lengths %c1, %c4 mode full {schedule = #schedule} : !state, tensor<2x2xf64>, tensor<2x1xf64>
  %b = attn.online %none, %k2, %v2 rows %c0 to %c1 keys from %c2 lengths %c1, %c4 mode full {schedule = #schedule} : !state, tensor<2x2xf64>, tensor<2x1xf64>
  %ab = attn.merge %a, %b {schedule = #schedule} : !state
  %ba = attn.merge %b, %a {schedule = #schedule} : !state
  %abn = attn.merge %ab, %none {schedule = #schedule} : !state
  %nab = attn.merge %none, %ab {schedule = #schedule} : !state
  %nn = attn.merge %none, %none {schedule = #schedule} : !state
  %oe = tensor.empty() : tensor<1x1xf64>
  %le = tensor.empty() : tensor<1xf64>
  %o1 = attn.finalize %ab outs(%oe : tensor<1x1xf64>) {schedule = #schedule} : !state -> tensor<1x1xf64>
  %o2 = attn.finalize %ba outs(%oe : tensor<1x1xf64>) {schedule = #schedule} : !state -> tensor<1x1xf64>
  %o3 = attn.finalize %abn outs(%oe : tensor<1x1xf64>) {schedule = #schedule} : !state -> tensor<1x1xf64>
  %o4, %l4 = attn.finalize %nab outs(%oe, %le : tensor<1x1xf64>, tensor<1xf64>) {schedule = #schedule} : !state -> tensor<1x1xf64>, tensor<1xf64>
  %o5, %l5 = attn.finalize %nn outs(%oe, %le : tensor<1x1xf64>, tensor<1xf64>) {schedule = #schedule} : !state -> tensor<1x1xf64>, tensor<1xf64>
  return %o1, %o2, %o3, %o4, %l4, %o5, %l5 : tensor<1x1xf64>, tensor<1x1xf64>, tensor<1x1xf64>, tensor<1x1xf64>, tensor<1xf64>, tensor<1x1xf64>, tensor<1xf64>
}

// Query rows 1 and 2 of 3, keys 2 and 3 of 4. The operands of a mask are a scalar
// and the matrix of all queries and keys; key 3 holds NaN and is excluded. In mode
// full the mask is not looked at, and the NaN is seen.
// CHECK-LABEL: @masks
// CHECK-NEXT{LITERAL}: [[0], [7]]
// CHECK-NEXT: [-inf, 2]
// CHECK-NEXT{LITERAL}: [[nan], [nan]]
func.func @masks() -> (tensor<2x1xf64>, tensor<2xf64>, tensor<2x1xf64>) {
  %q = arith.constant dense<1.0> : tensor<2x2xf64>
  %k = arith.constant dense<[[1.0, 1.0], [0x7FF8000000000000, 1.0]]> : tensor<2x2xf64>
  %v = arith.constant dense<[[7.0], [0x7FF0000000000000]]> : tensor<2x1xf64>
  %allowed = arith.constant dense<[[true, true, true, true], [true, true, false, true], [false, false, true, true]]> : tensor<3x4xi1>
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %s = attn.init_state %q scale 1.0 {schedule = #schedule} : tensor<2x2xf64> -> !state
  %a = attn.online %s, %k, %v rows %c1 to %c3 keys from %c2 lengths %c3, %c4
      where key_length(%c3 : index) and %allowed : tensor<3x4xi1> mode edge {schedule = #schedule} : !state, tensor<2x2xf64>, tensor<2x1xf64>
  %b = attn.online %s, %k, %v rows %c1 to %c3 keys from %c2 lengths %c3, %c4
      where key_length(%c3 : index) and %allowed : tensor<3x4xi1> mode full {schedule = #schedule} : !state, tensor<2x2xf64>, tensor<2x1xf64>
  %oe = tensor.empty() : tensor<2x1xf64>
  %le = tensor.empty() : tensor<2xf64>
  %o, %l = attn.finalize %a outs(%oe, %le : tensor<2x1xf64>, tensor<2xf64>) {schedule = #schedule} : !state -> tensor<2x1xf64>, tensor<2xf64>
  %p = attn.finalize %b outs(%oe : tensor<2x1xf64>) {schedule = #schedule} : !state -> tensor<2x1xf64>
  return %o, %l, %p : tensor<2x1xf64>, tensor<2xf64>, tensor<2x1xf64>
}

// CHECK-LABEL: @project_tile
// CHECK-NEXT{LITERAL}: [[17, 39]]
func.func @project_tile() -> tensor<1x2xf32> {
  %x = arith.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %w = arith.constant dense<[[3.0, 5.0], [2.0, 7.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %e = tensor.empty() : tensor<1x2xf32>
  %y = attn.project_tile %x, %w bias %b : tensor<2xf32> outs(%e : tensor<1x2xf32>) {schedule = #schedule}
      : tensor<1x2xf32>, tensor<2x2xf32> -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}

// A weight in panels of two columns; the fourth column does not exist.
// CHECK-LABEL: @project_tile_panels
// CHECK-NEXT{LITERAL}: [[17, 39, 3]]
func.func @project_tile_panels() -> tensor<1x3xf32> {
  %x = arith.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %w = arith.constant dense<[[[3.0, 5.0], [2.0, 7.0]], [[1.0, 99.0], [1.0, 99.0]]]> : tensor<2x2x2xf32>
  %b = arith.constant dense<[10.0, 20.0, 0.0]> : tensor<3xf32>
  %e = tensor.empty() : tensor<1x3xf32>
  %y = attn.project_tile %x, %w bias %b : tensor<3xf32> outs(%e : tensor<1x3xf32>) {schedule = #panels}
      : tensor<1x2xf32>, tensor<2x2x2xf32> -> tensor<1x3xf32>
  return %y : tensor<1x3xf32>
}

// Columns 0 and 1, then 2 and none.
// CHECK-LABEL: @pack_panels
// CHECK-NEXT{LITERAL}: [[[1, 2], [4, 5]], [[3, 0], [6, 0]]]
func.func @pack_panels() -> tensor<2x2x2xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %e = tensor.empty() : tensor<2x2x2xf32>
  %p = attn.pack_panels %w outs(%e : tensor<2x2x2xf32>) {schedule = #panels} : tensor<2x3xf32> -> tensor<2x2x2xf32>
  return %p : tensor<2x2x2xf32>
}

// CHECK-LABEL: @pack_panels_transposed
// CHECK-NEXT{LITERAL}: [[[1, 2], [4, 5]], [[3, 0], [6, 0]]]
func.func @pack_panels_transposed() -> tensor<2x2x2xf32> {
  %w = arith.constant dense<[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]> : tensor<3x2xf32>
  %e = tensor.empty() : tensor<2x2x2xf32>
  %p = attn.pack_panels %w transposed outs(%e : tensor<2x2x2xf32>) {schedule = #panels} : tensor<3x2xf32> -> tensor<2x2x2xf32>
  return %p : tensor<2x2x2xf32>
}

// CHECK-LABEL: @project_tile_transposed
// CHECK-NEXT{LITERAL}: [[7, 19]]
func.func @project_tile_transposed() -> tensor<1x2xf32> {
  %x = arith.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %w = arith.constant dense<[[3.0, 2.0], [5.0, 7.0]]> : tensor<2x2xf32>
  %e = tensor.empty() : tensor<1x2xf32>
  %y = attn.project_tile %x, %w transposed outs(%e : tensor<1x2xf32>) {schedule = #schedule}
      : tensor<1x2xf32>, tensor<2x2xf32> -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}

// (17 + 1) * 3 and (39 + 1) * 4.
// CHECK-LABEL: @project_tile_epilogue
// CHECK-NEXT{LITERAL}: [[54, 160]]
func.func @project_tile_epilogue() -> tensor<1x2xf32> {
  %x = arith.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %w = arith.constant dense<[[3.0, 5.0], [2.0, 7.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %c = arith.constant dense<[[1.0, 1.0]]> : tensor<1x2xf32>
  %d = arith.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %e = tensor.empty() : tensor<1x2xf32>
  %y = attn.project_tile %x, %w bias %b : tensor<2xf32> with %c, %d : tensor<1x2xf32>, tensor<2xf32> epilogue {
  ^bb0(%s: f32, %p: f32, %q: f32):
    %t = arith.addf %s, %p : f32
    %u = arith.mulf %t, %q : f32
    attn.yield %u : f32
  } outs(%e : tensor<1x2xf32>) {schedule = #schedule} : tensor<1x2xf32>, tensor<2x2xf32> -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}
