// RUN: attn-opt %s | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The attribute keeps every number, and its fields may be written in any order.
// CHECK: schedule = #attn.cpu_schedule<lanes = 8, rows = 6, vectors = 2, query_tile = 64, key_tile = 96, unroll = 4, prefetch = 3>
func.func private @in_order() attributes {schedule = #attn.cpu_schedule<lanes = 8, rows = 6, vectors = 2, query_tile = 64, key_tile = 96, unroll = 4, prefetch = 3>}

// CHECK: schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>
func.func private @other_order() attributes {schedule = #attn.cpu_schedule<prefetch = 0, key_tile = 8, query_tile = 16, vectors = 1, rows = 2, lanes = 4, unroll = 1>}

// CHECK: @pairs() attributes {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>}
func.func private @pairs() attributes {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = dot>}

// CHECK: @single() attributes {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0>}
func.func private @single() attributes {schedule = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 16, key_tile = 8, unroll = 1, prefetch = 0, products = fma>}

// CHECK: @tiles() attributes {schedule = #attn.cpu_schedule<lanes = 16, rows = 32, vectors = 2, query_tile = 32, key_tile = 64, unroll = 1, prefetch = 0, products = amx>}
func.func private @tiles() attributes {schedule = #attn.cpu_schedule<lanes = 16, rows = 32, vectors = 2, query_tile = 32, key_tile = 64, unroll = 1, prefetch = 0, products = amx>}
