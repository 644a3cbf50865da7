// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-bf16-as-integers | FileCheck %s

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

// What lives on behind its block, and what is passed to one.
// CHECK-LABEL: @across
// CHECK: %[[X:.*]] = llvm.load %arg0
// CHECK-NEXT: %[[BITS:.*]] = llvm.bitcast %[[X]] : bf16 to i16
// CHECK: %[[START:.*]] = llvm.bitcast %arg3 : bf16 to i16
// CHECK-NEXT: llvm.br ^bb1(%[[START]] : i16)
// CHECK: ^bb1(%[[I:.*]]: i16):
// CHECK-NEXT: %[[Y:.*]] = llvm.bitcast %[[I]] : i16 to bf16
// CHECK-NEXT: %[[AGAIN:.*]] = llvm.bitcast %[[BITS]] : i16 to bf16
// CHECK-NEXT: llvm.store %[[AGAIN]], %arg1
// CHECK-NEXT: llvm.store %[[Y]], %arg1
// CHECK: %[[NEXT:.*]] = llvm.bitcast {{.*}} : bf16 to i16
// CHECK: llvm.cond_br %arg2, ^bb1(%[[NEXT]] : i16), ^bb2
llvm.func @across(%p: !llvm.ptr, %q: !llvm.ptr, %again: i1, %start: bf16) {
  %x = llvm.load %p : !llvm.ptr -> bf16
  llvm.br ^loop(%start : bf16)
^loop(%y: bf16):
  llvm.store %x, %q : bf16, !llvm.ptr
  llvm.store %y, %q : bf16, !llvm.ptr
  llvm.cond_br %again, ^loop(%x : bf16), ^end
^end:
  llvm.return
}

// An element of a vector.
// CHECK-LABEL: @element
// CHECK: %[[V:.*]] = llvm.bitcast %arg0 : vector<4xbf16> to vector<4xi16>
// CHECK-NEXT: %[[X:.*]] = llvm.bitcast %arg1 : bf16 to i16
// CHECK-NEXT: %[[W:.*]] = llvm.insertelement %[[X]], %[[V]][%arg2 : i32] : vector<4xi16>
// CHECK-NEXT: llvm.bitcast %[[W]] : vector<4xi16> to vector<4xbf16>
llvm.func @element(%v: vector<4xbf16>, %x: bf16, %i: i32) -> vector<4xbf16> {
  %w = llvm.insertelement %x, %v[%i : i32] : vector<4xbf16>
  llvm.return %w : vector<4xbf16>
}

// Other numbers stay.
// CHECK-LABEL: @other
// CHECK-NOT: llvm.bitcast
// CHECK: llvm.return
llvm.func @other(%p: !llvm.ptr, %m: vector<4xi1>, %v: vector<4xf16>) {
  llvm.intr.masked.store %v, %p, %m {alignment = 2 : i32} : vector<4xf16>, vector<4xi1> into !llvm.ptr
  llvm.return
}
