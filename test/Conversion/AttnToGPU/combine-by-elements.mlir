// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Saved states are combined by an item per element, in their order.
// RUN: attn-opt %s -attn-combine-by-elements | FileCheck %s

// CHECK-LABEL: @rows
// CHECK-SAME:    %[[PARTS:[^ ]*]]: memref<2x?x?x66xf32>, %[[OUT:[^ ]*]]: memref<2x?x64xbf16>, %[[LSE:[^ ]*]]: memref<2x?xf32>, %[[N:[^ ]*]]: index
// CHECK:         scf.forall (%[[H:.*]], %[[I:.*]], %[[D:.*]]) in (2, %[[N]], 64) {
// CHECK:           %[[ROW:.*]] = memref.subview %[[PARTS]][%[[H]], 0, %[[I]], 0]
// CHECK:           %[[STATES:.*]] = memref.dim %[[ROW]], %c0
// States are loaded 16 at a time, and then those that are left.
// CHECK:           %[[MANY:.*]] = scf.for %[[S:.*]] = %c0{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[MAX:.*]] = %{{.*}}) -> (f32) {
// CHECK:             %[[EACH:.*]] = memref.load %[[ROW]][%[[S]], %c0{{.*}}, %c64{{.*}}]
// CHECK:             arith.maxnumf %[[EACH]], %[[MAX]]
// CHECK-COUNT-15:    memref.load
// CHECK-NOT:         memref.load
// CHECK:           %[[M:.*]] = scf.for %{{.*}} to %[[STATES]] step %c1{{.*}} iter_args(%{{.*}} = %[[MANY]]) -> (f32) {
// A row that has seen no key has -inf, which counts as 0.
// CHECK:           %[[NONE:.*]] = arith.cmpf oeq, %[[M]], %
// CHECK:           %[[SAFE:.*]] = arith.select %[[NONE]], %{{.*}}, %[[M]]
// CHECK:           %[[SUM:.*]]:2 = scf.for {{.*}} -> (f32, f32) {
// CHECK:             %[[LOW:.*]] = arith.subf %{{.*}}, %[[SAFE]]
// CHECK:             %[[FACTOR:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%[[LOW]])
// CHECK:             %[[L:.*]] = memref.load %[[ROW]][%{{.*}}, %c0{{.*}}, %c65{{.*}}]
// CHECK:             math.fma %[[L]], %[[FACTOR]], %
// CHECK:             %[[X:.*]] = memref.load %[[ROW]][%{{.*}}, %c0{{.*}}, %[[D]]]
// CHECK:             math.fma %[[X]], %[[FACTOR]], %
// CHECK:           %[[SUMS:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %[[SUM]]#0, %{{.*}} = %[[SUM]]#1) -> (f32, f32) {
// CHECK:           arith.divf %[[SUMS]]#1, %[[SUMS]]#0
// CHECK:           arith.truncf %{{.*}} : f32 to bf16
// CHECK:           memref.store %{{.*}}, %{{.*}}[%c0{{.*}}, %[[D]]]
// CHECK:           %[[FIRST:.*]] = arith.cmpi eq, %[[D]], %c0
// CHECK:           scf.if %[[FIRST]] {
// CHECK:             math.log %[[SUMS]]#0
// CHECK:         } {attn.kernel = "merge"}
// CHECK-NOT:     attn.combine
func.func @rows(%parts: memref<2x?x?x66xf32>, %out: memref<2x?x64xbf16>, %lse: memref<2x?xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  %s = memref.dim %parts, %c1 : memref<2x?x?x66xf32>
  scf.forall (%h, %i) in (2, %n) {
    %p = memref.subview %parts[%h, 0, %i, 0] [1, %s, 1, 66] [1, 1, 1, 1] : memref<2x?x?x66xf32> to memref<?x1x66xf32, strided<[?, 66, 1], offset: ?>>
    %o = memref.subview %out[%h, %i, 0] [1, 1, 64] [1, 1, 1] : memref<2x?x64xbf16> to memref<1x64xbf16, strided<[64, 1], offset: ?>>
    %l = memref.subview %lse[%h, %i] [1, 1] [1, 1] : memref<2x?xf32> to memref<1xf32, strided<[1], offset: ?>>
    attn.combine %p outs(%o, %l : memref<1x64xbf16, strided<[64, 1], offset: ?>>, memref<1xf32, strided<[1], offset: ?>>)
        {schedule = #attn.gpu_schedule<query_tile = 16, key_tile = 64, warps = 1, kind = decode, split_keys = 256>}
        : memref<?x1x66xf32, strided<[?, 66, 1], offset: ?>>
  }
  return
}

// Of one row there was no loop, and its sink is read in the kernel. A state of no weight beside the sink counts for nothing, even a
// NaN.
// CHECK-LABEL: @sink
// CHECK:         scf.forall (%{{.*}}) in (8) {
// CHECK:           memref.load %arg2[
// CHECK:           %[[ZERO:.*]] = arith.cmpf oeq, %[[FACTOR:.*]], %
// CHECK:           arith.select %[[ZERO]]
// CHECK:           arith.divf
// CHECK:         } {attn.kernel = "merge"}
func.func @sink(%parts: memref<?x1x10xf32>, %out: memref<1x8xf32>, %sinks: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %sink = memref.load %sinks[%c0] : memref<1xf32>
  attn.combine %parts sink %sink : f32 outs(%out : memref<1x8xf32>)
      {schedule = #attn.gpu_schedule<query_tile = 16, key_tile = 64, warps = 1, kind = decode, split_keys = 256>} : memref<?x1x10xf32>
  return
}

// Both results of a row, and the state as a caller gets it.
// CHECK-LABEL: @both
// CHECK:         scf.forall (%{{.*}}, %[[D:.*]]) in (%{{.*}}, 8) {
// CHECK-COUNT-4:   scf.for
// CHECK-NOT:     scf.forall
// CHECK-NOT:     attn.combine
func.func @both(%parts: memref<?x?x10xf32>, %out: memref<?x8xf16>, %m: memref<?xf32>, %l: memref<?xf32>, %acc: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = memref.dim %parts, %c0 : memref<?x?x10xf32>
  %n = memref.dim %parts, %c1 : memref<?x?x10xf32>
  scf.forall (%i) in (%n) {
    %p = memref.subview %parts[0, %i, 0] [%s, 1, 10] [1, 1, 1] : memref<?x?x10xf32> to memref<?x1x10xf32, strided<[?, 10, 1], offset: ?>>
    %o = memref.subview %out[%i, 0] [1, 8] [1, 1] : memref<?x8xf16> to memref<1x8xf16, strided<[8, 1], offset: ?>>
    %mi = memref.subview %m[%i] [1] [1] : memref<?xf32> to memref<1xf32, strided<[1], offset: ?>>
    %li = memref.subview %l[%i] [1] [1] : memref<?xf32> to memref<1xf32, strided<[1], offset: ?>>
    %a = memref.subview %acc[%i, 0] [1, 8] [1, 1] : memref<?x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
    attn.combine %p outs(%o : memref<1x8xf16, strided<[8, 1], offset: ?>>)
        {schedule = #attn.gpu_schedule<query_tile = 16, key_tile = 64, warps = 1, kind = decode, split_keys = 256>} : memref<?x1x10xf32, strided<[?, 10, 1], offset: ?>>
    attn.combine_state %p outs(%mi, %li, %a : memref<1xf32, strided<[1], offset: ?>>, memref<1xf32, strided<[1], offset: ?>>, memref<1x8xf32, strided<[8, 1], offset: ?>>)
        {schedule = #attn.gpu_schedule<query_tile = 16, key_tile = 64, warps = 1, kind = decode, split_keys = 256>} : memref<?x1x10xf32, strided<[?, 10, 1], offset: ?>>
  }
  return
}
