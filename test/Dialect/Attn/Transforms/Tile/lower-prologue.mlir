// RUN: attn-opt %s --attn-lower-prologue | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A parallel loop over batch entries, heads and tiles of 64 rows; the value has a second user.

// CHECK-LABEL: func @rope
// CHECK-SAME: (%[[X:.*]]: tensor<?x4x?x8xf32>, %[[C:.*]]: tensor<?x3xf32>, %[[S:.*]]: tensor<?x3xf32>, %[[P:.*]]: tensor<?x?xi32>)
// CHECK: %[[R:.*]] = scf.forall (%[[B:.*]], %[[H:.*]], %[[T:.*]]) in (%{{.*}}, 4, %{{.*}})
// CHECK: %[[FIRST:.*]] = arith.muli %[[T]], %{{.*}}
// CHECK: linalg.generic
// CHECK: %[[ROW:.*]] = linalg.index 0
// CHECK: %[[AT:.*]] = arith.addi %[[FIRST]], %[[ROW]]
// CHECK: tensor.extract %[[P]][%[[B]], %[[AT]]]
// CHECK: tensor.extract %[[X]][%[[B]], %[[H]], %{{.*}}, %{{.*}}]
// CHECK: tensor.extract %[[S]]
// CHECK: tensor.extract %[[C]]
// CHECK: tensor.parallel_insert_slice
// CHECK: return %[[R]], %[[R]]
func.func @rope(%x: tensor<?x4x?x8xf32>, %c: tensor<?x3xf32>, %s: tensor<?x3xf32>, %p: tensor<?x?xi32>) -> (tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>) {
  %r = attn.rope %x, %c, %s at %p : tensor<?x?xi32> : tensor<?x4x?x8xf32>, tensor<?x3xf32>
  return %r, %r : tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>
}

// CHECK-LABEL: func @norm
// CHECK: scf.forall (%{{.*}}) in (
// CHECK: linalg.generic
// CHECK: scf.for
// CHECK: math.sqrt
// CHECK: linalg.generic
// CHECK-NOT: attn.
func.func @norm(%x: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %r = attn.rms_norm %x eps 1.0e-6 : tensor<5x8xf32>
  return %r : tensor<5x8xf32>
}

// CHECK-LABEL: func @scale
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.*}} : tensor<?x8xf32>)
// CHECK: arith.constant 5.000000e-01 : f32
// CHECK: arith.mulf
// CHECK-NOT: attn.
func.func @scale(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %y = attn.scale %x by 0.5 : tensor<?x8xf32>
  return %y, %y : tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: func @narrow_scale
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.mulf %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @narrow_scale(%x: tensor<8xbf16>) -> tensor<8xbf16> {
  %y = attn.scale %x by 0.1 : tensor<8xbf16>
  return %y : tensor<8xbf16>
}

// Numbers of 16 bits are widened when they are read and rounded once, when they are written. A table of no columns is not read.
// CHECK-LABEL: func @narrow_rope
// CHECK: linalg.generic
// CHECK-COUNT-2: arith.extf %{{.*}} : f16 to f32
// CHECK: arith.mulf %{{.*}} : f32
// CHECK: %[[R:.*]] = arith.truncf %{{.*}} : f32 to f16
// CHECK-NEXT: linalg.yield %[[R]] : f16
func.func @narrow_rope(%x: tensor<?x8xf16>, %c: tensor<?x3xf32>) -> tensor<?x8xf16> {
  %r = attn.rope %x, %c, %c : tensor<?x8xf16>, tensor<?x3xf32>
  return %r : tensor<?x8xf16>
}

// CHECK-LABEL: func @narrow_norm
// CHECK: tensor.empty() : tensor<64xf32>
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (f32)
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: math.sqrt %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK-NOT: arith.truncf
func.func @narrow_norm(%x: tensor<5x8xbf16>, %w: tensor<8xbf16>) -> tensor<5x8xbf16> {
  %r = attn.rms_norm %x, %w eps 1.0e-6 : tensor<5x8xbf16>, tensor<8xbf16>
  return %r : tensor<5x8xbf16>
}

// CHECK-LABEL: func @no_pairs
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[C:.*]]: tensor<?x0xf32>
// CHECK-NOT: tensor.extract %[[C]]
// CHECK: return
func.func @no_pairs(%x: tensor<?x8xf32>, %c: tensor<?x0xf32>) -> tensor<?x8xf32> {
  %r = attn.rope %x, %c, %c : tensor<?x8xf32>, tensor<?x0xf32>
  return %r : tensor<?x8xf32>
}
