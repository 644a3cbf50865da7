// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A result in the place of an argument: the argument must be there, have its type and sizes, and have one such result.
//
// RUN: attn-opt %s --attn-describe-ports --split-input-file --verify-diagnostics | FileCheck %s

// CHECK: #attn.port<"next", output{{.*}}overlaps [cache]
func.func @good(%cache: tensor<?x4xf32> {attn.name = "cache"}, %x: tensor<1x4xf32> {attn.name = "x"}) -> (tensor<?x4xf32> {attn.name = "next", attn.in_place = "cache"}) {
  %next = tensor.insert_slice %x into %cache[0, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<?x4xf32>
  return %next : tensor<?x4xf32>
}

// -----

// expected-error @below {{expects attn.in_place of result 'next' to be the name of an argument, but got "nobody"}}
func.func @no_argument(%cache: tensor<4xf32> {attn.name = "cache"}) -> (tensor<4xf32> {attn.name = "next", attn.in_place = "nobody"}) {
  return %cache : tensor<4xf32>
}

// -----

// expected-error @below {{expects attn.in_place of result 'next' to be the name of an argument, but got 3 : i64}}
func.func @no_name(%cache: tensor<4xf32> {attn.name = "cache"}) -> (tensor<4xf32> {attn.name = "next", attn.in_place = 3}) {
  return %cache : tensor<4xf32>
}

// -----

// expected-error @below {{expects result 'next' in the place of argument 'cache' to have its type and sizes, but got 'tensor<4xf16>' and 'tensor<4xf32>'}}
func.func @another_type(%cache: tensor<4xf32> {attn.name = "cache"}) -> (tensor<4xf16> {attn.name = "next", attn.in_place = "cache"}) {
  %next = arith.truncf %cache : tensor<4xf32> to tensor<4xf16>
  return %next : tensor<4xf16>
}

// -----

// Of one type, but as long as another argument.
// expected-error @below {{expects result 'next' in the place of argument 'cache' to have its type and sizes}}
func.func @another_size(%cache: tensor<?xf32> {attn.name = "cache"}, %x: tensor<?xf32> {attn.name = "x"}) -> (tensor<?xf32> {attn.name = "next", attn.in_place = "cache"}) {
  return %x : tensor<?xf32>
}

// -----

// expected-error @below {{expects one result in the place of argument 'cache', but got two}}
func.func @two(%cache: tensor<4xf32> {attn.name = "cache"}, %x: tensor<4xf32> {attn.name = "x"})
    -> (tensor<4xf32> {attn.name = "next", attn.in_place = "cache"}, tensor<4xf32> {attn.name = "last", attn.in_place = "cache"}) {
  %a = arith.addf %cache, %x : tensor<4xf32>
  %b = arith.subf %cache, %x : tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
