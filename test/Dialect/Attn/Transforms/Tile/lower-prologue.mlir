// RUN: attn-opt %s --attn-lower-prologue | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rotations are ops on both halves of the features, norms sums of rows; the value has a second user.

// CHECK-LABEL: func @rope
// CHECK-SAME: (%[[X:.*]]: tensor<?x4x?x8xf32>, %[[C:.*]]: tensor<?x3xf32>, %[[S:.*]]: tensor<?x3xf32>, %[[P:.*]]: tensor<?x?xi32>)
// CHECK-DAG: %[[FIRST:.*]] = tensor.extract_slice %[[X]][0, 0, 0, 0] [%{{.*}}, 4, %{{.*}}, 3] [1, 1, 1, 1]
// CHECK-DAG: %[[SECOND:.*]] = tensor.extract_slice %[[X]][0, 0, 0, 3] [%{{.*}}, 4, %{{.*}}, 3] [1, 1, 1, 1]
// CHECK:      %[[TURNED:.*]] = linalg.generic {{.*}} ins(%[[FIRST]], %[[SECOND]], %[[P]] :
// CHECK:        %[[AT:.*]] = arith.maxsi
// CHECK-DAG:    tensor.extract %[[C]][%[[AT]], %{{.*}}]
// CHECK-DAG:    tensor.extract %[[S]][%[[AT]], %{{.*}}]
// CHECK:        arith.subf
// CHECK:      %[[WITH:.*]] = tensor.insert_slice %[[TURNED]] into %{{.*}}[0, 0, 0, 0]
// CHECK:      linalg.generic
// CHECK:        arith.addf
// CHECK:      %[[BOTH:.*]] = tensor.insert_slice %{{.*}} into %[[WITH]][0, 0, 0, 3]
// CHECK:      %[[REST:.*]] = tensor.extract_slice %[[X]][0, 0, 0, 6]
// CHECK:      %[[R:.*]] = tensor.insert_slice %[[REST]] into %[[BOTH]][0, 0, 0, 6]
// CHECK:      return %[[R]], %[[R]]
func.func @rope(%x: tensor<?x4x?x8xf32>, %c: tensor<?x3xf32>, %s: tensor<?x3xf32>, %p: tensor<?x?xi32>) -> (tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>) {
  %r = attn.rope %x, %c, %s at %p : tensor<?x?xi32> : tensor<?x4x?x8xf32>, tensor<?x3xf32>
  return %r, %r : tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>
}

// CHECK-LABEL: func @norm
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK: math.sqrt
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
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: arith.mulf %{{.*}} : f32
// CHECK: %[[R:.*]] = arith.truncf %{{.*}} : f32 to f16
// CHECK-NEXT: linalg.yield %[[R]] : f16
func.func @narrow_rope(%x: tensor<?x8xf16>, %c: tensor<?x3xf32>) -> tensor<?x8xf16> {
  %r = attn.rope %x, %c, %c : tensor<?x8xf16>, tensor<?x3xf32>
  return %r : tensor<?x8xf16>
}

// CHECK-LABEL: func @narrow_norm
// CHECK: tensor.empty() : tensor<5xf32>
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

// The variance is that of what is left without the mean.
// CHECK-LABEL: func @layer_norm
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x8xf32>, %[[W:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>)
// CHECK:      %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[X]] :
// CHECK:      %[[SQUARES:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[SUM]] :
// CHECK:        arith.subf
// CHECK:        arith.mulf
// CHECK:      linalg.generic {{.*}} ins(%[[X]], %[[SUM]], %[[SQUARES]], %[[W]], %[[B]] :
// CHECK:        math.sqrt
// CHECK-NOT:  attn.
func.func @layer_norm(%x: tensor<?x?x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<?x?x8xf32> {
  %r = attn.layer_norm %x, %w, %b eps 1.0e-5 : tensor<?x?x8xf32>, tensor<8xf32>, tensor<8xf32>
  return %r : tensor<?x?x8xf32>
}
