// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A key tile takes three quarters of the level-1 cache, of the wider of key and
// value; 48 keys at least, 96 at most, a multiple of the register tile's rows.
// RUN: attn-opt %s --attn-assign-schedule | FileCheck %s --check-prefixes=CHECK,SIX
// RUN: attn-opt %s --attn-set-target=facts=registers=32,lanes=16 --attn-assign-schedule | FileCheck %s --check-prefixes=CHECK,FOUR
// RUN: attn-opt %s --attn-set-target=facts=l1_bytes=65536 --attn-assign-schedule | FileCheck %s --check-prefixes=CHECK,LARGE

// CHECK-LABEL: @narrow
// SIX: key_tile = 96
// FOUR: key_tile = 96
// LARGE: key_tile = 96
func.func @narrow(%q: tensor<?x1xf32>) -> tensor<?x1xf32> {
  %o = attn.sdpa %q, %q, %q scale 1.0 : (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  return %o : tensor<?x1xf32>
}

// CHECK-LABEL: @eighty
// SIX: key_tile = 72
// FOUR: key_tile = 76
// LARGE: key_tile = 96
func.func @eighty(%q: tensor<?x80xf32>) -> tensor<?x80xf32> {
  %o = attn.sdpa %q, %q, %q scale 1.0 : (tensor<?x80xf32>, tensor<?x80xf32>, tensor<?x80xf32>) -> tensor<?x80xf32>
  return %o : tensor<?x80xf32>
}

// CHECK-LABEL: @wide_value
// SIX: key_tile = 48
// FOUR: key_tile = 48
// LARGE: key_tile = 96
func.func @wide_value(%q: tensor<?x8xf32>, %v: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %o = attn.sdpa %q, %q, %v scale 1.0 : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x128xf32>) -> tensor<?x128xf32>
  return %o : tensor<?x128xf32>
}

// CHECK-LABEL: @wide
// CHECK: key_tile = 48
func.func @wide(%q: tensor<?x512xf32>, %v: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %o = attn.sdpa %q, %q, %v scale 1.0 : (tensor<?x512xf32>, tensor<?x512xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %o : tensor<?x8xf32>
}
