// (H, S, D) with an unknown H is a batch of one head: so are biases and matrices of pairs; rows and numbers of a mask stay those of the leading
// dimension, and the score function sees the batch entry for the head.
//
// RUN: attn-opt %s --attn-heads-to-batch --split-input-file | FileCheck %s
// RUN: split-file %s %t && attn-opt %t/all.mlir --verify && attn-opt %t/all.mlir --emit=header -o - | FileCheck %s --check-prefix=HEADER
// RUN: not attn-opt %t/sinks.mlir --emit=obj -o %t/x.o 2>&1 | FileCheck %s --check-prefix=REFUSED

//--- all.mlir
// HEADER: Argument: float, shape (q0, q1, 16)
// HEADER: Argument: float, shape (q0, k1, 16)
// HEADER: Argument: float, shape (q0, k1, 8)
// HEADER: Argument: float, shape (q0, q1, k1)
// HEADER: Argument: int32_t, shape (q0)
// HEADER: Argument: float, shape (5)
// HEADER: Result: float, shape (q0, q1, 8)

// CHECK-LABEL: func.func @all
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<?x?x16xf32>, %[[K:[a-z0-9]+]]: tensor<?x?x16xf32>, %[[V:[a-z0-9]+]]: tensor<?x?x8xf32>, %[[B:[a-z0-9]+]]: tensor<?x?x?xf32>
// CHECK: %[[Q4:.*]] = tensor.expand_shape %[[Q]] {{\[\[}}0, 1], [2], [3]] output_shape [{{.*}}, 1, {{.*}}, 16] : tensor<?x?x16xf32> into tensor<?x1x?x16xf32>
// CHECK: %[[K4:.*]] = tensor.expand_shape %[[K]]
// CHECK: %[[V4:.*]] = tensor.expand_shape %[[V]]
// CHECK: %[[B4:.*]] = tensor.expand_shape %[[B]] {{.*}} into tensor<?x1x?x?xf32>
// CHECK: attn.sdpa %[[Q4]], %[[K4]], %[[V4]] bias %[[B4]] : tensor<?x1x?x?xf32>
// CHECK-SAME: score_mod (%{{.*}}: f32, %[[BATCH:[a-z0-9]+]],
// CHECK-NEXT: arith.constant
// CHECK-NEXT: arith.remui %[[BATCH]]
// CHECK: where key_length(%{{.*}} : tensor<?xi32>)
// CHECK: tensor.collapse_shape {{.*}} : tensor<?x1x?x8xf32> into tensor<?x?x8xf32>
// CHECK: tensor.collapse_shape {{.*}} : tensor<?x1x?xf32> into tensor<?x?xf32>
func.func @all(%q: tensor<?x?x16xf32>, %k: tensor<?x?x16xf32>, %v: tensor<?x?x8xf32>, %b: tensor<?x?x?xf32>, %n: tensor<?xi32>, %t: tensor<5xf32>)
    -> (tensor<?x?x8xf32>, tensor<?x?xf32>) {
  %o, %l = attn.sdpa %q, %k, %v bias %b : tensor<?x?x?xf32> scale 0.25 score_mod (%s: f32, %e, %h, %i, %j) with (%a = %t : tensor<5xf32>) {
    %c5 = arith.constant 5 : index
    %at = arith.remui %h, %c5 : index
    %x = tensor.extract %a[%at] : tensor<5xf32>
    %y = arith.addf %s, %x : f32
    attn.yield %y : f32
  } where key_length(%n : tensor<?xi32>) returning(out, lse) : (tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x8xf32>) -> (tensor<?x?x8xf32>, tensor<?x?xf32>)
  return %o, %l : tensor<?x?x8xf32>, tensor<?x?xf32>
}

//--- sinks.mlir
// -----

// Sinks are per head.
// CHECK-LABEL: func.func @sinks
// CHECK-NOT: expand_shape
// REFUSED: sinks.mlir:{{.*}}'attn.sdpa' op expects the number of heads of its query to be static on this target
func.func @sinks(%q: tensor<?x?x16xf32>, %s: tensor<?xf32>) -> tensor<?x?x16xf32> {
  %o = attn.sdpa %q, %q, %q scale 0.25 sinks %s : tensor<?xf32> : (tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  return %o : tensor<?x?x16xf32>
}

//--- known.mlir
// -----

// Known heads are heads, and so are those of keys that are known.
// CHECK-LABEL: func.func @known
// CHECK-NOT: expand_shape
func.func @known(%q: tensor<4x?x16xf32>, %k: tensor<2x?x16xf32>, %x: tensor<?x?x16xf32>) -> (tensor<4x?x16xf32>, tensor<?x?x16xf32>) {
  %o = attn.sdpa %q, %k, %k scale 0.25 : (tensor<4x?x16xf32>, tensor<2x?x16xf32>, tensor<2x?x16xf32>) -> tensor<4x?x16xf32>
  %p = attn.sdpa %x, %k, %k scale 0.25 : (tensor<?x?x16xf32>, tensor<2x?x16xf32>, tensor<2x?x16xf32>) -> tensor<?x?x16xf32>
  return %o, %p : tensor<4x?x16xf32>, tensor<?x?x16xf32>
}
