// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heads share a state where they see the same bias and mask, and not where these
// differ: per head, or per entry of a leading dimension that is the head.
// RUN: attn-opt %s --attn-tile-queries --canonicalize --cse | FileCheck %s
#d = #attn.cpu_schedule<lanes = 4, rows = 3, vectors = 3, query_tile = 8, key_tile = 16, unroll = 2, prefetch = 0, kind = decode, split_keys = 64>
#p = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 16, unroll = 1, prefetch = 0>

// CHECK-LABEL: @packed_bias_row
// CHECK: attn.online {{.*}} {heads = 4 : i64, {{.*}}kind = decode
func.func @packed_bias_row(%q: tensor<?x8x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x4xf32>, %b: tensor<?xf32>) -> tensor<?x8x?x4xf32> {
  %o = attn.sdpa %q, %k, %v bias %b : tensor<?xf32> scale 0.5 {schedule = #p, decode_schedule = #d} : (tensor<?x8x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// CHECK-LABEL: @packed_bias_of_batch
// CHECK: attn.online {{.*}} {heads = 4 : i64, {{.*}}kind = decode
func.func @packed_bias_of_batch(%q: tensor<?x8x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x4xf32>, %b: tensor<?x1x?x?xf32>) -> tensor<?x8x?x4xf32> {
  %o = attn.sdpa %q, %k, %v bias %b : tensor<?x1x?x?xf32> scale 0.5 {schedule = #p, decode_schedule = #d} : (tensor<?x8x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// CHECK-LABEL: @packed_mask
// CHECK: attn.online {{.*}} {heads = 4 : i64, {{.*}}kind = decode
func.func @packed_mask(%q: tensor<?x8x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x4xf32>, %m: tensor<1x?x?xi1>) -> tensor<?x8x?x4xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.5 where %m : tensor<1x?x?xi1> {schedule = #p, decode_schedule = #d} : (tensor<?x8x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// CHECK-LABEL: @packed_length
// CHECK: attn.online {{.*}} {heads = 4 : i64, {{.*}}kind = decode
func.func @packed_length(%q: tensor<?x8x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x4xf32>, %n: tensor<?xi32>) -> tensor<?x8x?x4xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.5 where key_length(%n : tensor<?xi32>) {schedule = #p, decode_schedule = #d} : (tensor<?x8x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// CHECK-LABEL: @packed_one_length
// CHECK: attn.online {{.*}} {heads = 4 : i64, {{.*}}kind = decode
func.func @packed_one_length(%q: tensor<8x?x8xf32>, %k: tensor<2x?x8xf32>, %v: tensor<2x?x4xf32>, %n: tensor<1xi32>) -> tensor<8x?x4xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.5 where key_length(%n : tensor<1xi32>) {schedule = #p, decode_schedule = #d} : (tensor<8x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x4xf32>) -> tensor<8x?x4xf32>
  return %o : tensor<8x?x4xf32>
}

// CHECK-LABEL: @bias_of_head
// CHECK-NOT: heads =
// CHECK: attn.online {{.*}}kind = decode
func.func @bias_of_head(%q: tensor<?x8x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x4xf32>, %b: tensor<8x1x?xf32>) -> tensor<?x8x?x4xf32> {
  %o = attn.sdpa %q, %k, %v bias %b : tensor<8x1x?xf32> scale 0.5 {schedule = #p, decode_schedule = #d} : (tensor<?x8x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// CHECK-LABEL: @mask_of_head
// CHECK-NOT: heads =
// CHECK: attn.online {{.*}}kind = decode
func.func @mask_of_head(%q: tensor<?x8x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x4xf32>, %m: tensor<?x8x?x?xi1>) -> tensor<?x8x?x4xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.5 where %m : tensor<?x8x?x?xi1> {schedule = #p, decode_schedule = #d} : (tensor<?x8x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x4xf32>) -> tensor<?x8x?x4xf32>
  return %o : tensor<?x8x?x4xf32>
}

// CHECK-LABEL: @length_of_head
// CHECK-NOT: heads =
// CHECK: attn.online {{.*}}kind = decode
func.func @length_of_head(%q: tensor<8x?x8xf32>, %k: tensor<2x?x8xf32>, %v: tensor<2x?x4xf32>, %n: tensor<8xi32>) -> tensor<8x?x4xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.5 where key_length(%n : tensor<8xi32>) {schedule = #p, decode_schedule = #d} : (tensor<8x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x4xf32>) -> tensor<8x?x4xf32>
  return %o : tensor<8x?x4xf32>
}

// CHECK-LABEL: @unknown_heads
// CHECK-NOT: heads =
// CHECK: attn.online {{.*}}kind = decode
func.func @unknown_heads(%q: tensor<?x?x?x8xf32>, %k: tensor<?x?x?x8xf32>, %v: tensor<?x?x?x4xf32>, %n: tensor<?xi32>) -> tensor<?x?x?x4xf32> {
  %o = attn.sdpa %q, %k, %v scale 0.5 where key_length(%n : tensor<?xi32>) {schedule = #p, decode_schedule = #d} : (tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>, tensor<?x?x?x4xf32>) -> tensor<?x?x?x4xf32>
  return %o : tensor<?x?x?x4xf32>
}
