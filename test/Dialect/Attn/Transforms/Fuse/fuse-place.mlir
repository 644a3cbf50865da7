// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where other uses stand before the context, attn.sdpa stands before them, behind its last operand.
// RUN: attn-opt %s --attn-fuse | FileCheck %s

// CHECK-LABEL: @read_before(
// CHECK: %[[O:[^,]*]], %[[W:.*]] = attn.sdpa
// CHECK: %[[Y:.*]] = math.exp %[[W]]
// CHECK: return %[[O]], %[[Y]]
func.func @read_before(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %y = math.exp %w : tensor<2x3xf32>
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %y : tensor<2x5xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @behind_value(
// CHECK: %[[V:.*]] = math.exp
// CHECK: %{{.*}}, %[[W:.*]] = attn.sdpa %{{.*}}, %{{.*}}, %[[V]]
// CHECK: math.exp %[[W]]
func.func @behind_value(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>) {
  %y = math.exp %v : tensor<3x5xf32>
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %z = math.exp %w : tensor<2x3xf32>
  %o = attn.context %w, %y : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %z : tensor<2x5xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @late_value(
// CHECK: %[[V:.*]] = math.exp
// CHECK: %{{.*}}, %[[W:.*]] = attn.sdpa %{{.*}}, %{{.*}}, %[[V]]
// CHECK: math.exp %[[W]]
func.func @late_value(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %y = math.exp %v : tensor<3x5xf32>
  %o = attn.context %w, %y : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  %z = math.exp %w : tensor<2x3xf32>
  return %o, %z : tensor<2x5xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @read_in_region(
// CHECK: %[[O:[^,]*]], %[[W:.*]] = attn.sdpa
// CHECK: scf.if
// CHECK: math.exp %[[W]]
func.func @read_in_region(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>, %c: i1) -> (tensor<2x5xf32>, tensor<2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %r = scf.if %c -> tensor<2x3xf32> {
    %e = math.exp %w : tensor<2x3xf32>
    scf.yield %e : tensor<2x3xf32>
  } else {
    scf.yield %w : tensor<2x3xf32>
  }
  %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %r : tensor<2x5xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @in_loop(
// CHECK: scf.for
// CHECK: attn.sdpa
// CHECK-NEXT: scf.yield
func.func @in_loop(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x4xf32>, %a: index, %n: index, %d: index) -> tensor<2x4xf32> {
  %r = scf.for %i = %a to %n step %d iter_args(%x = %q) -> tensor<2x4xf32> {
    %s = attn.scores %x, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
    %w = attn.softmax %s : tensor<2x3xf32>
    %o = attn.context %w, %v : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    scf.yield %o : tensor<2x4xf32>
  }
  return %r : tensor<2x4xf32>
}

// What reads the weights before the value is there, and what follows from that, moves.
// CHECK-LABEL: @before_value(
// CHECK: %[[V:.*]] = math.exp %arg2
// CHECK: %[[O:[^,]*]], %[[W:.*]] = attn.sdpa %arg0, %arg1, %[[V]]
// CHECK: %[[Y:.*]] = math.exp %[[W]]
// CHECK: %[[Z:.*]] = math.sin %[[Y]]
// CHECK: return %[[O]], %[[Z]]
func.func @before_value(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>) {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %w = attn.softmax %s : tensor<2x3xf32>
  %y = math.exp %w : tensor<2x3xf32>
  %z = math.sin %y : tensor<2x3xf32>
  %e = math.exp %v : tensor<3x5xf32>
  %o = attn.context %w, %e : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %o, %z : tensor<2x5xf32>, tensor<2x3xf32>
}
