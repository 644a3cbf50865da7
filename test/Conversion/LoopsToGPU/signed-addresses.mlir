// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-signed-addresses | FileCheck %s

// CHECK-LABEL: llvm.func @f(
// CHECK:         llvm.mul %{{.*}}, %{{.*}} overflow<nsw> : i64
// CHECK:         llvm.add %{{.*}}, %{{.*}} overflow<nsw> : i64
// CHECK:         llvm.getelementptr inbounds %{{.*}}[
llvm.func @f(%x: !llvm.ptr, %i: i64, %s: i64) -> f32 {
  %0 = llvm.mul %i, %s overflow<nsw, nuw> : i64
  %1 = llvm.add %0, %i overflow<nsw, nuw> : i64
  %2 = llvm.getelementptr inbounds|nuw %x[%1] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %3 = llvm.load %2 : !llvm.ptr -> f32
  llvm.return %3 : f32
}
