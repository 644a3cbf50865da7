// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the parser says of a schedule that lacks a field or has a strange one.
// expected-error@+1 {{struct is missing required parameter: key_tile}}
func.func private @missing() attributes {schedule = #attn.cpu_schedule<lanes = 8, rows = 6, vectors = 2, query_tile = 64, unroll = 4, prefetch = 3>}

// -----

// expected-error@+1 {{duplicate or unknown struct parameter name: threads}}
func.func private @unknown() attributes {schedule = #attn.cpu_schedule<lanes = 8, rows = 6, vectors = 2, query_tile = 64, key_tile = 96, unroll = 4, threads = 3>}

// -----

// expected-error@+2 {{expected ::attn::Kind to be one of: prefill, decode}}
// expected-error@+1 {{failed to parse Attn_CPUScheduleAttr parameter 'kind'}}
func.func private @kind() attributes {schedule = #attn.cpu_schedule<lanes = 8, rows = 6, vectors = 2, query_tile = 64, key_tile = 96, unroll = 4, prefetch = 3, kind = train>}

// -----

// expected-error@+2 {{expected ::attn::Products to be one of: fma, dot, amx}}
// expected-error@+1 {{failed to parse Attn_CPUScheduleAttr parameter 'products'}}
func.func private @products() attributes {schedule = #attn.cpu_schedule<lanes = 8, rows = 6, vectors = 2, query_tile = 64, key_tile = 96, unroll = 4, prefetch = 3, products = triples>}
