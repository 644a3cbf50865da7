// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A part of the keys visits its own tiles only: those of the mask between the tiles of
// its first and last key. Rows of its keys are counted from its first key.
// RUN: attn-opt %s --attn-tile-keys --canonicalize --cse | FileCheck %s
#d = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 8, key_tile = 16, unroll = 2, prefetch = 0, kind = decode, split_keys = 64>
!state = !attn.state<8 x 8 x 4, f32, decode>

// CHECK-LABEL: @unmasked
// CHECK: %[[COUNT:.*]] = tensor.dim %arg1, %c0
// CHECK: %[[FROM:.*]] = arith.divui %[[FIRST:.*]], %c16
// CHECK: %[[LAST:.*]] = arith.addi %[[FIRST]], %[[COUNT]]
// CHECK: %[[TO:.*]] = arith.ceildivui %[[LAST]], %c16
// CHECK: scf.for %[[T:.*]] = %{{.*}} to %{{.*}} step
// CHECK: %[[KEY:.*]] = arith.muli %[[T]], %c16
// CHECK: %[[ROW:.*]] = arith.subi %[[KEY]], %[[FIRST]]
// CHECK: tensor.extract_slice %arg1[%[[ROW]], 0]
// CHECK: tensor.extract_slice %arg2[%[[ROW]], 0]
// CHECK: attn.online {{.*}} keys from %[[KEY]] {{.*}} mode full
// CHECK-NOT: mode edge
func.func @unmasked(%s: !state, %k: tensor<?x8xf32>, %v: tensor<?x4xf32>, %first: index, %sq: index, %skv: index) -> !state {
  %c0 = arith.constant 0 : index
  %r = attn.online %s, %k, %v rows %c0 to %sq keys from %first lengths %sq, %skv mode full {schedule = #d}
      : !state, tensor<?x8xf32>, tensor<?x4xf32>
  return %r : !state
}

// Bounds of the mask are clamped to the part: %from and %to.
// CHECK-LABEL: @causal
// CHECK: %[[FROM:.*]] = arith.divui %arg3, %c16
// CHECK: %[[TO:.*]] = arith.ceildivui %{{.*}}, %c16
// CHECK: %[[B0:.*]] = arith.maxsi %[[FROM]], %c0
// CHECK: %[[BEGIN:.*]] = arith.minsi %[[B0]], %[[TO]]
// CHECK: %[[F0:.*]] = arith.maxsi %{{.*}}, %[[FROM]]
// CHECK: %[[FULL:.*]] = arith.minsi %[[F0]], %[[TO]]
// CHECK: %[[E0:.*]] = arith.maxsi %{{.*}}, %[[FROM]]
// CHECK: %[[END:.*]] = arith.minsi %[[E0]], %[[TO]]
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[FULL]] step
// CHECK: mode full
// CHECK: scf.for %{{.*}} = %[[FULL]] to %[[END]] step
// CHECK: mode edge
func.func @causal(%s: !state, %k: tensor<?x8xf32>, %v: tensor<?x4xf32>, %first: index, %sq: index, %skv: index) -> !state {
  %c0 = arith.constant 0 : index
  %r = attn.online %s, %k, %v rows %c0 to %sq keys from %first lengths %sq, %skv where causal(bottom_right) mode edge {schedule = #d}
      : !state, tensor<?x8xf32>, tensor<?x4xf32>
  return %r : !state
}

// A length inside the part ends it.
// CHECK-LABEL: @length
// CHECK: %[[FROM:.*]] = arith.divui %arg3, %c16
// CHECK: %[[TO:.*]] = arith.ceildivui %{{.*}}, %c16
// CHECK: arith.addi %arg6, %c-1
// CHECK: %[[E0:.*]] = arith.maxsi %{{.*}}, %[[FROM]]
// CHECK: %[[END:.*]] = arith.minsi %[[E0]], %[[TO]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[END]] step
// CHECK: mode edge
func.func @length(%s: !state, %k: tensor<?x8xf32>, %v: tensor<?x4xf32>, %first: index, %sq: index, %skv: index, %n: index) -> !state {
  %c0 = arith.constant 0 : index
  %r = attn.online %s, %k, %v rows %c0 to %sq keys from %first lengths %sq, %skv where key_length(%n : index) mode edge {schedule = #d}
      : !state, tensor<?x8xf32>, tensor<?x4xf32>
  return %r : !state
}
