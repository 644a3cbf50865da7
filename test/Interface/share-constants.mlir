// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants of the same type and bytes become the first of them. Others stay: other
// bytes, another type, what may be written, splats.
// RUN: attn-opt %s --attn-share-constants | FileCheck %s

// CHECK: memref.global "private" constant @a : memref<2xf32>
// CHECK-NOT: @b
// CHECK: memref.global "private" constant @other : memref<2xf32>
// CHECK: memref.global "private" constant @integers : memref<2xi32>
// CHECK: memref.global "private" @written : memref<2xf32>
// CHECK: memref.global "private" constant @aligned : memref<2xf32> {{.*}}alignment
// CHECK: memref.global "private" constant @splat : memref<2xf32>
// CHECK: memref.global "private" constant @equal : memref<2xf32>
memref.global "private" constant @a : memref<2xf32> = dense_resource<a>
memref.global "private" constant @b : memref<2xf32> = dense<[1.0, 2.0]>
memref.global "private" constant @other : memref<2xf32> = dense<[1.0, 3.0]>
memref.global "private" constant @integers : memref<2xi32> = dense<[0x3f800000, 0x40000000]>
memref.global "private" @written : memref<2xf32> = dense<[1.0, 2.0]>
memref.global "private" constant @aligned : memref<2xf32> = dense<[1.0, 2.0]> {alignment = 64 : i64}
memref.global "private" constant @splat : memref<2xf32> = dense<1.0>
memref.global "private" constant @equal : memref<2xf32> = dense<1.0>

// CHECK-LABEL: func.func @f
// CHECK: memref.get_global @a
// CHECK: memref.get_global @a
// CHECK: memref.get_global @other
// CHECK: memref.get_global @equal
func.func @f() -> (memref<2xf32>, memref<2xf32>, memref<2xf32>, memref<2xf32>) {
  %0 = memref.get_global @a : memref<2xf32>
  %1 = memref.get_global @b : memref<2xf32>
  %2 = memref.get_global @other : memref<2xf32>
  %3 = memref.get_global @equal : memref<2xf32>
  return %0, %1, %2, %3 : memref<2xf32>, memref<2xf32>, memref<2xf32>, memref<2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      a: "0x400000000000803f00000040"
    }
  }
#-}
