// One item per batch entry and key head; the query heads of its group and their
// tiles in order. Sums by keys and values are carried through both loops.
// RUN: attn-opt %s --attn-tile-gradients | FileCheck %s
// RUN: attn-opt %s --attn-tile-gradients --attn-tile-keys | FileCheck %s --check-prefix=KEYS
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#s = #attn.cpu_schedule<lanes = 8, rows = 4, vectors = 2, query_tile = 32, key_tile = 16, unroll = 2, prefetch = 0>

// CHECK-LABEL: func.func @grouped(
// CHECK:         scf.forall (%[[B:.*]], %[[G:.*]]) in (%{{.*}}, 2) shared_outs(%{{.*}}, %{{.*}}, %{{.*}})
// CHECK:           linalg.fill
// CHECK:           linalg.fill
// CHECK:           scf.for {{.*}} iter_args(
// CHECK:             scf.for {{.*}} iter_args(
// CHECK:               %[[S:.*]] = attn.init_grad {{.*}} scale 5.000000e-01 {{.*}} -> <32 x 8 x 6, f32>
// CHECK:               attn.grad_step %[[S]], {{.*}} where causal(top_left) mode edge
// CHECK:               attn.finish_grad %[[S]]
// CHECK:               scf.yield
// CHECK:           scf.forall.in_parallel
// CHECK-NOT:     attn.sdpa

// Key tiles above the diagonal are not visited; those in front of it need no
// mask.
// KEYS-LABEL: func.func @grouped(
// KEYS:         attn.init_grad
// KEYS:         scf.for
// KEYS:           attn.grad_step {{.*}} mode full
// KEYS:         scf.for
// KEYS:           attn.grad_step {{.*}} mode edge
// KEYS-NOT:     attn.grad_step
// KEYS:         attn.finish_grad
func.func @grouped(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x6xf32>, %o: tensor<?x4x?x6xf32>, %l: tensor<?x4x?xf32>, %d: tensor<?x4x?x6xf32>)
    -> (tensor<?x2x?x6xf32>, tensor<?x4x?x8xf32>) {
  %g:2 = attn.sdpa_grad %q, %k, %v scale 0.5 where causal(top_left) out %o : tensor<?x4x?x6xf32> lse %l : tensor<?x4x?xf32>
      cotangents %d wrt ["value", "query"] {schedule = #s}
      : (tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x6xf32>, tensor<?x4x?x6xf32>) -> (tensor<?x2x?x6xf32>, tensor<?x4x?x8xf32>)
  return %g#0, %g#1 : tensor<?x2x?x6xf32>, tensor<?x4x?x8xf32>
}

// Without a key there is nothing to tile.
// CHECK-LABEL: func.func @no_keys(
// CHECK-NOT:     attn
// CHECK:         linalg.fill
func.func @no_keys(%q: tensor<5x8xf32>, %k: tensor<0x8xf32>, %l: tensor<5xf32>) -> tensor<5x8xf32> {
  %g = attn.sdpa_grad %q, %k, %k scale 0.5 out %q : tensor<5x8xf32> lse %l : tensor<5xf32> cotangents %q wrt ["query"] {schedule = #s}
      : (tensor<5x8xf32>, tensor<0x8xf32>, tensor<0x8xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>)
  return %g : tensor<5x8xf32>
}

// Bias and table are shared by the batch: a copy per entry, and their sum. An
// item has its heads of them, at which the table is read. The step gets what
// belongs to its head, and the function with its derivatives.
// CHECK-LABEL: func.func @sums(
// CHECK:         scf.forall {{.*}} in (2, 2) shared_outs({{.*}}) -> (tensor<2x4x?x8xf32>, {{.*}}, tensor<2x1x1x4x1x?xf32>, tensor<2x1x1x4x9xf32>)
// CHECK:           tensor.extract_slice {{.*}} : tensor<2x1x1x4x1x?xf32> to tensor<2x1x?xf32>
// CHECK:           tensor.extract_slice {{.*}} : tensor<2x1x1x4x9xf32> to tensor<2x9xf32>
// CHECK:           scf.for
// CHECK:             attn.grad_step {{.*}} score_mod
// CHECK:               %[[Y:.*]] = arith.mulf %{{.*}}, %[[X:.*]] :
// CHECK:               attn.yield %[[Y]],
// CHECK:             sums(%{{.*}}, %{{.*}} : tensor<1x?xf32>, tensor<1x9xf32>) by ["bias", "capture_0"] scale 5.000000e-01
// CHECK:         linalg.generic {{.*}}iterator_types = ["reduction", "reduction", "reduction", "parallel", "parallel", "parallel"]
// KEYS-LABEL: func.func @sums(
// KEYS:         scf.for
// KEYS:           attn.grad_step {{.*}} score_mod
// KEYS:           sums(%{{.*}}, %{{.*}} : tensor<1x?xf32>, tensor<1x9xf32>)
func.func @sums(%q: tensor<2x4x?x8xf32>, %k: tensor<2x2x?x8xf32>, %v: tensor<2x2x?x6xf32>, %o: tensor<2x4x?x6xf32>, %l: tensor<2x4x?xf32>,
    %bias: tensor<4x1x?xf32>, %table: tensor<4x9xf32>) -> (tensor<4x1x?xf32>, tensor<4x9xf32>) {
  %g:2 = attn.sdpa_grad %q, %k, %v bias %bias : tensor<4x1x?xf32> scale 0.5 score_mod (%s: f32, %b, %h, %i, %j) with (%t = %table : tensor<4x9xf32>) {
    %x = tensor.extract %t[%h, %j] : tensor<4x9xf32>
    %y = arith.mulf %s, %x : f32
    attn.yield %y : f32
  } out %o : tensor<2x4x?x6xf32> lse %l : tensor<2x4x?xf32> cotangents %o wrt ["bias", "capture_0"] {schedule = #s}
      : (tensor<2x4x?x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x?x6xf32>, tensor<2x4x?x6xf32>) -> (tensor<4x1x?xf32>, tensor<4x9xf32>)
  return %g#0, %g#1 : tensor<4x1x?xf32>, tensor<4x9xf32>
}

// One document after the other; the sums go through that loop, too.
// CHECK-LABEL: func.func @documents(
// CHECK:         scf.for
// CHECK:           scf.while
// CHECK:             attn.init_grad
// CHECK:             attn.grad_step {{.*}} where document(
// CHECK:             attn.finish_grad
func.func @documents(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %l: tensor<?xf32>, %n: tensor<?xi32>, %m: tensor<?xi32>) -> tensor<?x8xf32> {
  %g = attn.sdpa_grad %q, %k, %k scale 0.5 where document(%n : tensor<?xi32>, %m : tensor<?xi32>) out %q : tensor<?x8xf32> lse %l : tensor<?xf32> cotangents %q wrt ["key"] {schedule = #s}
      : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> (tensor<?x8xf32>)
  return %g : tensor<?x8xf32>
}

// All batch entries add to one bias per pair: an item walks them.
// CHECK-LABEL: func.func @pairs(
// CHECK:         scf.forall {{.*}} in (1, 8) shared_outs({{.*}}) -> ({{.*}}, tensor<8x?x?xf32>)
// CHECK:           scf.for {{.*}} iter_args(
// CHECK:             attn.grad_step {{.*}} sums(%{{.*}} : tensor<?x?xf32>) by ["bias"]
// CHECK-NOT:     linalg.generic
func.func @pairs(%q: tensor<?x8x?x8xf32>, %l: tensor<?x8x?xf32>, %bias: tensor<8x?x?xf32>) -> tensor<8x?x?xf32> {
  %g = attn.sdpa_grad %q, %q, %q bias %bias : tensor<8x?x?xf32> scale 0.5 out %q : tensor<?x8x?x8xf32> lse %l : tensor<?x8x?xf32> cotangents %q wrt ["bias"] {schedule = #s}
      : (tensor<?x8x?x8xf32>, tensor<?x8x?x8xf32>, tensor<?x8x?x8xf32>, tensor<?x8x?x8xf32>) -> (tensor<8x?x?xf32>)
  return %g : tensor<8x?x?xf32>
}

// Cotangents of weights: a step gets those of its head, of all keys; their part of delta is in the cotangent of lse. Those of sigmoid have none.
// CHECK-LABEL: func.func @weights(
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}}"reduction"]} ins(%[[W:.*]], %[[D:.*]] : tensor<2x?x?xf32>, tensor<2x?x?xf32>)
// CHECK:         %[[ROWS:.*]] = linalg.generic {{.*}} ins(%[[SUM]] :
// CHECK:         scf.forall
// CHECK:           tensor.extract_slice %[[ROWS]]
// CHECK:           attn.init_grad {{.*}} lse %{{.*}}, %{{.*}} : tensor<?xf32> scale
// CHECK:           attn.grad_step {{.*}} of %{{.*}}, %{{.*}} weights %{{.*}} : tensor<?x?xf32> outs({{.*}}) scale 5.0
// CHECK-LABEL: func.func @weights_of_sigmoid(
// CHECK-NOT:     "reduction"
// CHECK:         attn.grad_step {{.*}} weights %{{.*}} : tensor<5x5xf32> outs({{.*}}) scale 5.0
func.func @weights(%q: tensor<2x?x8xf32>, %l: tensor<2x?xf32>, %w: tensor<2x?x?xf32>, %d: tensor<2x?x?xf32>) -> tensor<2x?x8xf32> {
  %g = attn.sdpa_grad %q, %q, %q scale 0.5 out %q : tensor<2x?x8xf32> lse %l : tensor<2x?xf32> weights %w : tensor<2x?x?xf32>
      cotangents %q weights %d : tensor<2x?x?xf32> wrt ["query"] {schedule = #s}
      : (tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>) -> (tensor<2x?x8xf32>)
  return %g : tensor<2x?x8xf32>
}
func.func @weights_of_sigmoid(%q: tensor<5x8xf32>, %d: tensor<5x5xf32>) -> tensor<5x8xf32> {
  %g = attn.sdpa_grad %q, %q, %q scale 0.5 cotangents %q weights %d : tensor<5x5xf32> wrt ["query"] {normalization = #attn<normalization sigmoid>, schedule = #s}
      : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>)
  return %g : tensor<5x8xf32>
}
