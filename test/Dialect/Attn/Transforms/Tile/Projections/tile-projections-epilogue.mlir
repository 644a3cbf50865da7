// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise ops behind a product become the epilogue of its tiles, which reads
// tiles of what else they read.
// RUN: attn-opt %s --attn-tile-projections --canonicalize --cse | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>

// A residual and a row of scales, repeated by a broadcast.
// CHECK-LABEL: @arithmetic
// CHECK-NOT: arith.addf {{.*}}tensor
// CHECK: %[[R:.*]] = tensor.extract_slice %arg2[%[[ROW:.*]], 0] [%[[ROWS:.*]], 6]
// CHECK: attn.project_tile %{{.*}}, %{{.*}} with %[[R]], %arg3 : tensor<?x6xf32>, tensor<6xf32> epilogue {
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32, %[[RESIDUAL:.*]]: f32, %[[SCALE:.*]]: f32):
// CHECK-NEXT: %[[A:.*]] = arith.addf %[[SUM]], %[[RESIDUAL]] : f32
// CHECK-NEXT: %[[B:.*]] = math.tanh %[[A]] : f32
// CHECK-NEXT: %[[C:.*]] = arith.mulf %[[B]], %[[SCALE]] : f32
// CHECK-NEXT: %[[D:.*]] = arith.truncf %[[C]] : f32 to f16
// CHECK-NEXT: attn.yield %[[D]] : f16
// CHECK: outs(%{{.*}} : tensor<?x6xf16>)
func.func @arithmetic(%x: tensor<20x4xf32>, %w: tensor<4x6xf32>, %r: tensor<20x6xf32>, %s: tensor<6xf32>) -> tensor<20x6xf16> {
  %e = tensor.empty() : tensor<20x6xf32>
  %y = attn.project %x, %w {schedule = #s} : (tensor<20x4xf32>, tensor<4x6xf32>) -> tensor<20x6xf32>
  %a = arith.addf %y, %r : tensor<20x6xf32>
  %b = math.tanh %a : tensor<20x6xf32>
  %scales = linalg.broadcast ins(%s : tensor<6xf32>) outs(%e : tensor<20x6xf32>) dimensions = [0]
  %c = arith.mulf %b, %scales : tensor<20x6xf32>
  %d = arith.truncf %c : tensor<20x6xf32> to tensor<20x6xf16>
  return %d : tensor<20x6xf16>
}

// Constants, of all forms, stand inside; a value may be read twice.
// CHECK-LABEL: @constants
// CHECK: attn.project_tile %{{.*}}, %{{.*}} epilogue {
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32):
// CHECK: arith.constant 2.000000e+00 : f32
// CHECK: arith.mulf %[[SUM]]
// CHECK: arith.constant 1.000000e+00 : f32
// CHECK: arith.divf %[[SUM]]
func.func @constants(%x: tensor<?x4xf32>, %w: tensor<4x6xf32>, %n: index) -> tensor<?x6xf32> {
  %two = arith.constant 2.0 : f32
  %y = attn.project %x, %w {schedule = #s} : (tensor<?x4xf32>, tensor<4x6xf32>) -> tensor<?x6xf32>
  %twos = tensor.splat %two[%n] : tensor<?x6xf32>
  %a = arith.mulf %y, %twos : tensor<?x6xf32>
  %e = tensor.empty(%n) : tensor<?x6xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%y, %a : tensor<?x6xf32>, tensor<?x6xf32>) outs(%e : tensor<?x6xf32>) {
  ^bb0(%s: f32, %t: f32, %o: f32):
    %one = arith.constant 1.0 : f32
    %u = arith.addf %t, %one : f32
    %v = arith.divf %s, %u : f32
    linalg.yield %v : f32
  } -> tensor<?x6xf32>
  return %r : tensor<?x6xf32>
}

// Numbers of 16 bits are rounded behind each op.
// CHECK-LABEL: @narrow
// CHECK: ^bb0(%[[SUM:.*]]: bf16):
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[SUM]] : bf16 to f32
// CHECK-NEXT: %[[E:.*]] = math.exp %[[WIDE]] : f32
// CHECK-NEXT: %[[N:.*]] = arith.truncf %[[E]] : f32 to bf16
func.func @narrow(%x: tensor<5x4xbf16>, %w: tensor<4x6xbf16>) -> tensor<5x6xbf16> {
  %y = attn.project %x, %w {schedule = #s} : (tensor<5x4xbf16>, tensor<4x6xbf16>) -> tensor<5x6xbf16>
  %a = math.exp %y : tensor<5x6xbf16>
  return %a : tensor<5x6xbf16>
}

// What another op reads is a result: the chain ends there.
// CHECK-LABEL: @second_user
// CHECK: attn.project_tile %{{.*}} epilogue {
// CHECK: math.absf
// CHECK-NOT: math.exp
// CHECK: attn.yield
// CHECK: math.exp %{{.*}} : tensor<5x6xf32>
func.func @second_user(%x: tensor<5x4xf32>, %w: tensor<4x6xf32>) -> (tensor<5x6xf32>, tensor<5x6xf32>) {
  %y = attn.project %x, %w {schedule = #s} : (tensor<5x4xf32>, tensor<4x6xf32>) -> tensor<5x6xf32>
  %a = math.absf %y : tensor<5x6xf32>
  %b = math.exp %a : tensor<5x6xf32>
  return %a, %b : tensor<5x6xf32>, tensor<5x6xf32>
}

// Of two products that are multiplied, one is read by the epilogue of the other.
// CHECK-LABEL: @gate
// CHECK: %[[UP:[0-9]+]] = scf.forall
// CHECK: attn.project_tile
// CHECK-NOT: epilogue
// CHECK: scf.forall
// CHECK: tensor.extract_slice %[[UP]]
// CHECK: epilogue {
// CHECK-NOT: arith.mulf {{.*}}tensor
func.func @gate(%x: tensor<20x4xf32>, %w: tensor<4x6xf32>, %v: tensor<4x6xf32>) -> tensor<20x6xf32> {
  %y = attn.project %x, %w {schedule = #s} : (tensor<20x4xf32>, tensor<4x6xf32>) -> tensor<20x6xf32>
  %z = attn.project %x, %v {schedule = #s} : (tensor<20x4xf32>, tensor<4x6xf32>) -> tensor<20x6xf32>
  %a = arith.mulf %y, %z : tensor<20x6xf32>
  return %a : tensor<20x6xf32>
}
