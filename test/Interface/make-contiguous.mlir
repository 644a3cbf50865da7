// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel works on copies of tensors whose innermost stride is not 1 or of which one is negative. The call's strides
// decide: otherwise the copy has no rows.
// RUN: attn-opt %s --attn-make-contiguous --split-input-file | FileCheck %s

// CHECK-LABEL: func.func private @f.kernel(
// CHECK-SAME:    %[[X:.*]]: memref<?x4xf32, strided<[?, ?], offset: ?>>, %[[O:.*]]: memref<2x?x4xf16, strided<[?, ?, ?], offset: ?>>, %{{.*}}: memref<i32>,
// CHECK:       %{{.*}}, %{{.*}}, %{{.*}}:2, %[[S:.*]]:2 = memref.extract_strided_metadata %[[X]]
// CHECK:       %[[LESS:.*]] = arith.cmpi slt, %[[S]]#0, %{{.*}} : index
// CHECK:       %[[ANY:.*]] = arith.ori %{{.*}}, %[[LESS]]
// CHECK:       %[[WIDE:.*]] = arith.cmpi sgt
// CHECK:       %[[APART:.*]] = arith.cmpi ne, %[[S]]#1
// CHECK:       %[[BOTH:.*]] = arith.andi %[[WIDE]], %[[APART]]
// CHECK:       %[[BAD:.*]] = arith.ori %[[ANY]], %[[BOTH]]
// CHECK:       %[[ROWS:.*]] = arith.select %[[BAD]], %{{.*}}, %{{.*}} {attn.contiguous_copy}
// CHECK:       %[[NEW:.*]] = memref.alloc(%[[ROWS]]) {alignment = 64 : i64} : memref<?x4xf32>
// CHECK:       %[[COPY:.*]] = memref.cast %[[NEW]]
// CHECK:       %[[SAME:.*]] = memref.cast %[[X]]
// CHECK:       %[[READ:.*]] = arith.select %[[BAD]], %[[COPY]], %[[SAME]]
// CHECK:       scf.if %[[BAD]]
// CHECK:         scf.forall
// CHECK:           vector.load %[[X]]
// CHECK-NEXT:      vector.store %{{.*}}, %[[COPY]]
// The result is computed in its copy, and moved behind the kernel.
// CHECK:       memref.alloc(%{{.*}}, %{{.*}}) {alignment = 64 : i64} : memref<?x?x4xf16>
// CHECK:       %[[WRITTEN:.*]] = arith.select %[[LATE:.*]], %[[TEMPORARY:.*]], %{{.*}} : memref<2x?x4xf16, strided<[?, ?, 1], offset: ?>>
// CHECK:       call @compute(%[[READ]], %[[WRITTEN]])
// CHECK:       scf.if %[[LATE]]
// CHECK:         scf.forall (%{{.*}}, %{{.*}}) in (2, %{{.*}})
// CHECK:           vector.load %[[TEMPORARY]]
// CHECK-NEXT:      vector.store %{{.*}}, %[[O]]
// CHECK:       return
func.func private @compute(memref<?x4xf32, strided<[?, 1], offset: ?>>, memref<2x?x4xf16, strided<[?, ?, 1], offset: ?>>)
func.func private @f.kernel(%x: memref<?x4xf32, strided<[?, 1], offset: ?>>, %o: memref<2x?x4xf16, strided<[?, ?, 1], offset: ?>>,
    %n: memref<i32>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr)
    attributes {attn.ports = [#attn.port<"x", input [x0, 4] : tensor<?x4xf32>>,
      #attn.port<"o", output [2, x0, 4] : tensor<2x?x4xf16>>, #attn.port<"n", input [] : tensor<i32>>]} {
  call @compute(%x, %o) : (memref<?x4xf32, strided<[?, 1], offset: ?>>, memref<2x?x4xf16, strided<[?, ?, 1], offset: ?>>) -> ()
  return
}

// -----

// Lengths and tables, read in two places; other functions stay.
// CHECK-LABEL: func.func private @g.kernel(%{{.*}}: memref<?xi32, strided<[?], offset: ?>>
// CHECK:       %[[ROW:.*]] = arith.select %{{.*}} : memref<?xi32, strided<[1], offset: ?>>
// CHECK-NOT:   scf.forall
// CHECK:       call @look(%[[ROW]])
// CHECK:       call @look(%[[ROW]])
func.func private @look(memref<?xi32, strided<[1], offset: ?>>)
func.func private @g.kernel(%x: memref<?xi32, strided<[1], offset: ?>>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr)
    attributes {attn.ports = [#attn.port<"x", input [x0] : tensor<?xi32>>]} {
  call @look(%x) : (memref<?xi32, strided<[1], offset: ?>>) -> ()
  call @look(%x) : (memref<?xi32, strided<[1], offset: ?>>) -> ()
  return
}

// CHECK-LABEL: func.func private @g.flops(%{{.*}}: memref<?xi32, strided<[1], offset: ?>>)
func.func private @g.flops(%x: memref<?xi32, strided<[1], offset: ?>>) attributes {attn.ports = [#attn.port<"x", input [x0] : tensor<?xi32>>]} {
  return
}
