// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-masked-bf16 | FileCheck %s

// CHECK-LABEL: @load
// CHECK: %[[ZERO:.*]] = llvm.bitcast %arg2 : vector<4xbf16> to vector<4xi16>
// CHECK: %[[BITS:.*]] = llvm.intr.masked.load %arg0, %arg1, %[[ZERO]] {{.*}} -> vector<4xi16>
// CHECK: %[[R:.*]] = llvm.bitcast %[[BITS]] : vector<4xi16> to vector<4xbf16>
// CHECK: llvm.return %[[R]]
llvm.func @load(%p: !llvm.ptr, %m: vector<4xi1>, %zero: vector<4xbf16>) -> vector<4xbf16> {
  %r = llvm.intr.masked.load %p, %m, %zero {alignment = 2 : i32} : (!llvm.ptr, vector<4xi1>, vector<4xbf16>) -> vector<4xbf16>
  llvm.return %r : vector<4xbf16>
}

// CHECK-LABEL: @store
// CHECK: %[[BITS:.*]] = llvm.bitcast %arg2 : vector<4xbf16> to vector<4xi16>
// CHECK: llvm.intr.masked.store %[[BITS]], %arg0, %arg1
llvm.func @store(%p: !llvm.ptr, %m: vector<4xi1>, %v: vector<4xbf16>) {
  llvm.intr.masked.store %v, %p, %m {alignment = 2 : i32} : vector<4xbf16>, vector<4xi1> into !llvm.ptr
  llvm.return
}

// Other numbers stay.
// CHECK-LABEL: @other
// CHECK-NOT: llvm.bitcast
// CHECK: llvm.return
llvm.func @other(%p: !llvm.ptr, %m: vector<4xi1>, %v: vector<4xf16>) {
  llvm.intr.masked.store %v, %p, %m {alignment = 2 : i32} : vector<4xf16>, vector<4xi1> into !llvm.ptr
  llvm.return
}
