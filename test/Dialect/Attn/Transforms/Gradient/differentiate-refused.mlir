// What has no gradient is refused by name.
// RUN: attn-opt %s --attn-differentiate --split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expected-error@+1 {{expects attn.gradient on tensors of floats, but argument 0 has type 'tensor<5xi32>'}}
func.func @integers(%x: tensor<5xi32> {attn.gradient}) -> tensor<5xi32> {
  return %x : tensor<5xi32>
}

// -----

// expected-error@+1 {{expects attn.gradient on tensors of floats, but argument 1 has type 'tensor<5x6xi1>'}}
func.func @booleans(%q: tensor<5x8xf32> {attn.gradient}, %seen: tensor<5x6xi1> {attn.gradient}) -> tensor<5x8xf32> {
  return %q : tensor<5x8xf32>
}

// -----

// expected-error@+1 {{has a gradient, one of whose ports is called 'd_y', but there is an argument of this name}}
func.func @cotangent(%x: tensor<5xf32> {attn.gradient, attn.name = "x"}, %d: tensor<5xf32> {attn.name = "d_y"}) -> (tensor<5xf32> {attn.name = "y"}) {
  return %x : tensor<5xf32>
}

// -----

// expected-error@+1 {{has a gradient, one of whose ports is called 'd_x', but there is an argument of this name}}
func.func @learned(%x: tensor<5xf32> {attn.gradient, attn.name = "x"}, %d: tensor<5xf32> {attn.name = "d_x"}) -> (tensor<5xf32> {attn.name = "y"}) {
  return %x : tensor<5xf32>
}

// -----

// expected-error@+1 {{has a gradient, one of whose ports is called 'residual_0', but there is an argument of this name}}
func.func @residual(%x: tensor<5xf32> {attn.gradient, attn.name = "x"}, %r: tensor<5xf32> {attn.name = "residual_0"}) -> (tensor<5xf32> {attn.name = "y"}) {
  return %x : tensor<5xf32>
}

// -----

func.func @unknown_rows(%x: tensor<5x?xf32> {attn.gradient}) -> tensor<5x?xf32> {
  // expected-error@+1 {{'attn.layer_norm' op has no gradient for rows of unknown length}}
  %y = attn.layer_norm %x eps 1.0e-5 : tensor<5x?xf32>
  return %y : tensor<5x?xf32>
}

// -----

func.func @unknown_op(%x: tensor<5xf32> {attn.gradient}) -> tensor<5xf32> {
  // expected-error@+1 {{'math.cbrt' op has no gradient that is known, but a learned argument reaches a result through it}}
  %y = math.cbrt %x : tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

func.func @loop(%x: tensor<5xf32> {attn.gradient}) -> tensor<5xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'scf.for' op has no gradient that is known}}
  %y = scf.for %i = %c0 to %c1 step %c1 iter_args(%s = %x) -> tensor<5xf32> {
    scf.yield %s : tensor<5xf32>
  }
  return %y : tensor<5xf32>
}

// -----

func.func @scores(%q: tensor<5x8xf32> {attn.gradient}) -> (tensor<5x8xf32>, tensor<5x5xf32>) {
  // expected-error@+1 {{has no gradient through its scores; those of out, lse and weights are known}}
  %o, %s = attn.sdpa %q, %q, %q scale 0.5 returning(out, scores) {scores_stage = #attn<scores_stage masked>} : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>, tensor<5x5xf32>)
  return %o, %s : tensor<5x8xf32>, tensor<5x5xf32>
}

// -----

func.func @function(%q: tensor<5x8xf32> {attn.gradient}) -> tensor<5x8xf32> {
  // expected-error@+1 {{has a score function with 'arith.bitcast', whose gradient is not known}}
  %o = attn.sdpa %q, %q, %q scale 0.5 score_mod (%s: f32, %b, %h, %i, %j) {
    %bits = arith.bitcast %s : f32 to i32
    %y = arith.bitcast %bits : i32 to f32
    attn.yield %y : f32
  } : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// -----

func.func @changed_state(%q: tensor<5x8xf32> {attn.gradient}) -> tensor<5x8xf32> {
  %o, %m, %l, %a = attn.sdpa %q, %q, %q scale 0.5 returning(out, state) : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>)
  %more = arith.addf %l, %l : tensor<5xf32>
  // expected-error@+1 {{has no gradient, because its state is not of attn.sdpa and attn.merge_states alone}}
  %r = attn.finalize_state %m, %more, %a : (tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return %r : tensor<5x8xf32>
}

// -----

func.func @state(%q: tensor<5x8xf32> {attn.gradient}) -> tensor<5xf32> {
  // expected-error@+1 {{has no gradient through its state, except through attn.finalize_state}}
  %o, %m, %l, %a = attn.sdpa %q, %q, %q scale 0.5 returning(out, state) : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5x8xf32>)
  return %l : tensor<5xf32>
}

// -----

func.func private @taken_gradient()
// expected-error@+1 {{has a gradient, which is called 'taken_gradient', but there is a function of this name}}
func.func @taken(%q: tensor<5x8xf32> {attn.gradient}) -> tensor<5x8xf32> {
  return %q : tensor<5x8xf32>
}

// -----

// A lookup reads its table inside of its region.
func.func @lookup(%x: tensor<3x4xf32>, %w: tensor<9x4xf32> {attn.gradient}, %at: tensor<3xindex>) -> tensor<3x4xf32> {
  // expected-error@+1 {{'tensor.generate' op has no gradient for what its region reads from outside, which a learned argument reaches}}
  %e = tensor.generate {
  ^bb0(%i: index, %j: index):
    %row = tensor.extract %at[%i] : tensor<3xindex>
    %number = tensor.extract %w[%row, %j] : tensor<9x4xf32>
    tensor.yield %number : f32
  } : tensor<3x4xf32>
  %y = arith.addf %x, %e : tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

#same = affine_map<(i, j) -> (i, j)>
func.func @gain(%x: tensor<3x4xf32> {attn.gradient}, %w: tensor<f32> {attn.gradient}) -> tensor<3x4xf32> {
  %gain = tensor.extract %w[] : tensor<f32>
  %e = tensor.empty() : tensor<3x4xf32>
  // expected-error@+1 {{'linalg.generic' op has no gradient for what its region reads from outside}}
  %y = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.mulf %a, %gain : f32
    linalg.yield %s : f32
  } -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @branch(%x: tensor<3x4xf32> {attn.gradient}, %c: i1) -> tensor<3x4xf32> {
  // expected-error@+1 {{'scf.if' op has no gradient for what its region reads from outside}}
  %y = scf.if %c -> tensor<3x4xf32> {
    %t = math.tanh %x : tensor<3x4xf32>
    scf.yield %t : tensor<3x4xf32>
  } else {
    scf.yield %x : tensor<3x4xf32>
  }
  return %y : tensor<3x4xf32>
}

// -----

func.func @product(%x: tensor<3x4xf32> {attn.gradient}) -> tensor<3xf32> {
  %one = arith.constant dense<1.0> : tensor<3xf32>
  // expected-error@+1 {{'linalg.reduce' op has no gradient that is known}}
  %y = linalg.reduce ins(%x : tensor<3x4xf32>) outs(%one : tensor<3xf32>) dimensions = [1]
    (%in: f32, %m: f32) {
      %p = arith.mulf %in, %m : f32
      linalg.yield %p : f32
    }
  return %y : tensor<3xf32>
}

// -----

#same = affine_map<(i) -> (i)>
func.func @inside(%x: tensor<3xf32> {attn.gradient}) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %y = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    // expected-error@+1 {{'math.atan' op has no derivative that is known, but a learned argument reaches a result through it}}
    %s = math.atan %a : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

func.func @number(%x: tensor<3xf32> {attn.gradient}) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %first = tensor.extract %x[%c0] : tensor<3xf32>
  %e = tensor.empty() : tensor<4xf32>
  // expected-error@+1 {{'linalg.fill' op has no gradient that is known}}
  %y = linalg.fill ins(%first : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @not_fused(%w: tensor<5x6xf32>, %v: tensor<6x8xf32> {attn.gradient}) -> tensor<5x8xf32> {
  // expected-error@+1 {{'attn.context' op has no gradient that is known, but a learned argument reaches a result through it; it is not part of an attention that could be fused: attn.bias is the second one}}
  %o = attn.context %w, %v {attn.not_fused = "attn.bias is the second one"} : (tensor<5x6xf32>, tensor<6x8xf32>) -> tensor<5x8xf32>
  return %o : tensor<5x8xf32>
}

// -----

func.func @bits(%x: tensor<3xf32> {attn.gradient}, %mask: tensor<3xi32>) -> tensor<3xf32> {
  %bits = arith.bitcast %x : tensor<3xf32> to tensor<3xi32>
  %some = arith.andi %bits, %mask : tensor<3xi32>
  // expected-error@+1 {{'arith.bitcast' op has no gradient that is known}}
  %y = arith.bitcast %some : tensor<3xi32> to tensor<3xf32>
  return %y : tensor<3xf32>
}
