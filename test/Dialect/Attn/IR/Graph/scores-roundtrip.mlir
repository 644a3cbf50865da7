// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of queries and keys in every rank, with groups and unknown sizes.
// CHECK-LABEL: func @rank_2
// CHECK: attn.scores %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
func.func @rank_2(%q: tensor<2x4xf32>, %k: tensor<3x4xf32>) -> tensor<2x3xf32> {
  %s = attn.scores %q, %k : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  return %s : tensor<2x3xf32>
}

// CHECK-LABEL: func @groups
// CHECK: attn.scores {{.*}} : (tensor<6x?x4xf64>, tensor<2x?x4xf64>) -> tensor<6x?x?xf64>
func.func @groups(%q: tensor<6x?x4xf64>, %k: tensor<2x?x4xf64>) -> tensor<6x?x?xf64> {
  %s = attn.scores %q, %k : (tensor<6x?x4xf64>, tensor<2x?x4xf64>) -> tensor<6x?x?xf64>
  return %s : tensor<6x?x?xf64>
}

// CHECK-LABEL: func @half_precision
// CHECK: attn.scores {{.*}} {note = "kept"} : (tensor<?x?x?x?xbf16>, tensor<?x?x?x?xbf16>) -> tensor<?x?x?x?xf32>
func.func @half_precision(%q: tensor<?x?x?x?xbf16>, %k: tensor<?x?x?x?xbf16>) -> tensor<?x?x?x?xf32> {
  %s = attn.scores %q, %k {note = "kept"} : (tensor<?x?x?x?xbf16>, tensor<?x?x?x?xbf16>) -> tensor<?x?x?x?xf32>
  return %s : tensor<?x?x?x?xf32>
}
