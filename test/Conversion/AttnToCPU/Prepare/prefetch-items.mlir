// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --pass-pipeline='builtin.module(func.func(attn-prefetch-items,cse))' --split-input-file | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 2>

// Queries and keys of the item that is as many items later as there are threads,
// or of the last one; the result of this item.
// CHECK-LABEL: func.func private @f.kernel(
// CHECK-SAME: %[[Q:.*]]: memref<?x6x?x4xf32>, %[[K:.*]]: memref<?x6x?x4xf32>, %[[OUT:.*]]: memref<?x6x?x4xf32>, %[[BATCHES:.*]]: index, %[[N:.*]]: index, %{{.*}}: memref<?xi8>, %[[THREADS:.*]]: index, %{{.*}}: !llvm.ptr
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]]) in (%[[BATCHES]], 6) {
// CHECK: attn.init_state
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %[[SIX:c6.*]] : index
// CHECK: %[[ITEM:.*]] = arith.addi %{{.*}}, %[[H]]
// CHECK: %[[COUNT:.*]] = arith.muli %{{.*}}, %[[SIX]]
// CHECK: %[[STEP:.*]] = arith.maxsi %[[THREADS]], %c1
// CHECK: %[[LATER:.*]] = arith.addi %[[ITEM]], %[[STEP]]
// CHECK: %[[LAST:.*]] = arith.subi %[[COUNT]], %c1
// CHECK: %[[NEXT:.*]] = arith.minsi %[[LATER]], %[[LAST]]
// CHECK: %[[NEXT_H:.*]] = arith.remui %[[NEXT]], %[[SIX]]
// CHECK: %[[NEXT_B:.*]] = arith.divui %[[NEXT]], %[[SIX]]
// CHECK: %[[GROUP:.*]] = arith.divui %[[NEXT_H]], %c2
// CHECK: %[[ALL_KEYS:.*]] = memref.subview %[[K]][%[[NEXT_B]], %[[GROUP]], 0, 0]
// CHECK: %[[ALL_QUERIES:.*]] = memref.subview %[[Q]][%[[NEXT_B]], %[[NEXT_H]], 0, 0]
// With many keys, no rows of them.
// CHECK: %[[KEYS:.*]] = memref.dim %[[ALL_KEYS]], %c0
// CHECK: %[[FEW:.*]] = arith.cmpi sle, %[[KEYS]], %c1024
// CHECK: %[[QUERIES:.*]] = memref.dim %[[ALL_QUERIES]], %c0
// CHECK: %[[ROWS:.*]] = arith.select %[[FEW]], %[[QUERIES]], %c0
// CHECK: %[[QUERY:.*]] = memref.subview %[[ALL_QUERIES]][0, 0] [%[[ROWS]], 4] [1, 1]
// CHECK: %[[KEY:.*]] = memref.subview %[[ALL_KEYS]][0, 0] [%{{.*}}, 4] [1, 1]
// CHECK: %[[ALL_RESULTS:.*]] = memref.subview %[[OUT]][%[[B]], %[[H]], 0, 0]
// CHECK: %[[RESULT:.*]] = memref.subview %[[ALL_RESULTS]][0, 0] [%{{.*}}, 4] [1, 1]
// CHECK: scf.for
// CHECK: attn.online {{.*}} prefetch %[[QUERY]], %[[KEY]], %[[RESULT]] :
func.func private @f.kernel(%q: memref<?x6x?x4xf32>, %k: memref<?x6x?x4xf32>, %out: memref<?x6x?x4xf32>, %batches: index, %n: index, %workspace: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  scf.forall (%b, %h) in (%batches, 6) {
    %group = arith.divui %h, %c2 : index
    %query = memref.subview %q[%b, %h, 0, 0] [1, 1, %n, 4] [1, 1, 1, 1] : memref<?x6x?x4xf32> to memref<?x4xf32, strided<[4, 1], offset: ?>>
    %keys = memref.subview %k[%b, %group, 0, 0] [1, 1, %n, 4] [1, 1, 1, 1] : memref<?x6x?x4xf32> to memref<?x4xf32, strided<[4, 1], offset: ?>>
    %s0 = attn.init_state %query scale 0.5 {schedule = #s} : memref<?x4xf32, strided<[4, 1], offset: ?>> -> <8 x 4 x 4, f32>
    %s1 = scf.for %t = %c0 to %n step %c4 iter_args(%s = %s0) -> (!attn.state<8 x 4 x 4, f32>) {
      %tile = memref.subview %keys[%t, 0] [%c4, 4] [1, 1] : memref<?x4xf32, strided<[4, 1], offset: ?>> to memref<?x4xf32, strided<[4, 1], offset: ?>>
      %next = attn.online %s, %tile, %tile rows %c0 to %n keys from %t lengths %n, %n mode full {schedule = #s} : <8 x 4 x 4, f32>, memref<?x4xf32, strided<[4, 1], offset: ?>>, memref<?x4xf32, strided<[4, 1], offset: ?>>
      scf.yield %next : !attn.state<8 x 4 x 4, f32>
    }
    %result = memref.subview %out[%b, %h, 0, 0] [1, 1, %n, 4] [1, 1, 1, 1] : memref<?x6x?x4xf32> to memref<?x4xf32, strided<[4, 1], offset: ?>>
    attn.finalize %s1 outs(%result : memref<?x4xf32, strided<[4, 1], offset: ?>>) {schedule = #s} : <8 x 4 x 4, f32>
  }
  return
}

// -----
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 2>

// An item that saves its state has the operands of one that has a result. Where
// keys begin may stand in memory, but is not searched for.
// CHECK-LABEL: func.func private @saved.kernel(
// CHECK: attn.init_state
// CHECK: %[[NEXT:.*]] = arith.minsi
// CHECK: %[[BEGIN:.*]] = memref.load %{{.*}}[%[[NEXT]]]
// CHECK: %[[ALL_KEYS:.*]] = memref.subview %{{.*}}[%[[BEGIN]], 0]
// CHECK: %[[ALL_QUERIES:.*]] = memref.subview %{{.*}}[%[[NEXT]], 0, 0]
// CHECK: %[[QUERY:.*]] = memref.subview %[[ALL_QUERIES]][0, 0]
// CHECK: %[[KEYS:.*]] = memref.subview %[[ALL_KEYS]][0, 0]
// CHECK: attn.online {{.*}} prefetch %[[QUERY]], %[[KEYS]], %[[QUERY]] :
// CHECK: attn.save_state
// CHECK: attn.init_state
// CHECK: attn.online {{.*}} prefetch %[[ONLY:[^,]*]], %[[ONLY]] : memref<?x4xf32, strided<[4, 1], offset: ?>>, memref<?x4xf32, strided<[4, 1], offset: ?>> {
// CHECK: attn.save_state
func.func private @saved.kernel(%q: memref<?x?x4xf32>, %k: memref<?x4xf32>, %begins: memref<?xindex>, %part: memref<?x6xf32>, %batches: index, %n: index, %workspace: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  scf.forall (%b) in (%batches) {
    %begin = memref.load %begins[%b] : memref<?xindex>
    %query = memref.subview %q[%b, 0, 0] [1, %n, 4] [1, 1, 1] : memref<?x?x4xf32> to memref<?x4xf32, strided<[4, 1], offset: ?>>
    %keys = memref.subview %k[%begin, 0] [%n, 4] [1, 1] : memref<?x4xf32> to memref<?x4xf32, strided<[4, 1], offset: ?>>
    %s0 = attn.init_state %query scale 0.5 {schedule = #s} : memref<?x4xf32, strided<[4, 1], offset: ?>> -> <8 x 4 x 4, f32>
    %s1 = attn.online %s0, %keys, %keys rows %c0 to %n keys from %c0 lengths %n, %n mode full {schedule = #s} : <8 x 4 x 4, f32>, memref<?x4xf32, strided<[4, 1], offset: ?>>, memref<?x4xf32, strided<[4, 1], offset: ?>>
    attn.save_state %s1 outs(%part : memref<?x6xf32>) {schedule = #s} : <8 x 4 x 4, f32>
  }
  scf.forall (%b) in (%batches) {
    %begin = scf.for %i = %c0 to %b step %n iter_args(%sum = %c0) -> (index) {
      %next = arith.addi %sum, %i : index
      scf.yield %next : index
    }
    %query = memref.subview %q[%b, 0, 0] [1, %n, 4] [1, 1, 1] : memref<?x?x4xf32> to memref<?x4xf32, strided<[4, 1], offset: ?>>
    %keys = memref.subview %k[%begin, 0] [%n, 4] [1, 1] : memref<?x4xf32> to memref<?x4xf32, strided<[4, 1], offset: ?>>
    %s0 = attn.init_state %query scale 0.5 {schedule = #s} : memref<?x4xf32, strided<[4, 1], offset: ?>> -> <8 x 4 x 4, f32>
    %s1 = attn.online %s0, %keys, %keys rows %c0 to %n keys from %c0 lengths %n, %n mode full {schedule = #s} : <8 x 4 x 4, f32>, memref<?x4xf32, strided<[4, 1], offset: ?>>, memref<?x4xf32, strided<[4, 1], offset: ?>>
    attn.save_state %s1 outs(%part : memref<?x6xf32>) {schedule = #s} : <8 x 4 x 4, f32>
  }
  return
}

// -----
#d = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 2, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 2, kind = decode, split_keys = 4>

// Kind decode prefetches by itself.
// CHECK-LABEL: func.func private @decode.kernel(
// CHECK-NOT: full prefetch
func.func private @decode.kernel(%q: memref<?x?x4xf32>, %k: memref<?x4xf32>, %part: memref<?x6xf32>, %batches: index, %n: index, %workspace: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  scf.forall (%b) in (%batches) {
    %query = memref.subview %q[%b, 0, 0] [1, %n, 4] [1, 1, 1] : memref<?x?x4xf32> to memref<?x4xf32, strided<[4, 1], offset: ?>>
    %s0 = attn.init_state %query scale 0.5 {schedule = #d} : memref<?x4xf32, strided<[4, 1], offset: ?>> -> <8 x 4 x 4, f32, decode>
    %s1 = attn.online %s0, %k, %k rows %c0 to %n keys from %c0 lengths %n, %n mode full {schedule = #d} : <8 x 4 x 4, f32, decode>, memref<?x4xf32>, memref<?x4xf32>
    attn.save_state %s1 outs(%part : memref<?x6xf32>) {schedule = #d} : <8 x 4 x 4, f32, decode>
  }
  return
}
