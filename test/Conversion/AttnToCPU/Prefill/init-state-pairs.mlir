// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queries in pairs: (5 + 1) / 2 rows per query block, of which the last holds one
// number and 0, and no multiplication. Behind all stands the factor of the scores.
// A negative scale turns the signs of the queries.
// RUN: attn-opt %s --convert-attn-to-cpu --canonicalize | FileCheck %s
#s = #attn.cpu_schedule<lanes = 4, rows = 2, vectors = 1, query_tile = 8, key_tile = 4, unroll = 1, prefetch = 0, products = dot>

// CHECK: func.func private @f.init_state(%[[S:.*]]: memref<42x4xf32>, %[[Q:.*]]: memref<?x5xbf16>)
// CHECK-DAG: %[[FACTOR:.*]] = arith.constant dense<0.72134751> : vector<4xf32>
// CHECK-DAG: %[[C41:.*]] = arith.constant 41 : index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK: vector.store %[[FACTOR]], %[[S]][%[[C41]], %[[C0]]]
// CHECK-NOT: arith.mulf
// CHECK-NOT: arith.xori
// CHECK: %[[MASK:.*]] = vector.constant_mask [5] : vector<8xi1>
// CHECK-NEXT: %[[ROW:.*]] = vector.maskedload %[[Q]][%{{.*}}, %[[C0]]], %[[MASK]], %{{.*}} : memref<?x5xbf16>, vector<8xi1>, vector<8xbf16> into vector<8xbf16>
// CHECK-NEXT: vector.bitcast %[[ROW]] : vector<8xbf16> to vector<4xf32>
// CHECK: vector.shuffle {{.*}} : vector<4xf32>, vector<4xf32>
// CHECK-COUNT-3: vector.store %{{.*}}, %[[S]][%{{.*}}] : memref<42x4xf32>
// CHECK-NOT: arith.mulf
// CHECK: return
func.func private @f.kernel(%q: memref<?x5xbf16>) {
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x5xbf16> -> <8 x 5 x 6, f32>
  return
}

// Whole rows need no mask.
// CHECK: func.func private @g.init_state(%[[S:[^:]*]]: memref<{{[^,]*}}xf32>, %[[Q:.*]]: memref<?x16xbf16>)
// CHECK-DAG: %[[SIGNS:.*]] = arith.constant dense<-2147450880> : vector<4xi32>
// CHECK-DAG: arith.constant dense<0.72134751> : vector<4xf32>
// CHECK-NOT: maskedload
// CHECK: %[[ROW:.*]] = vector.load %[[Q]]{{.*}} : memref<?x16xbf16>, vector<8xbf16>
// CHECK: arith.xori %{{.*}}, %[[SIGNS]] : vector<4xi32>
// CHECK: func.func private @g.kernel
func.func private @g.kernel(%q: memref<?x16xbf16>) {
  %s0 = attn.init_state %q scale -0.5 {schedule = #s} : memref<?x16xbf16> -> <8 x 16 x 6, f32>
  return
}

// The last column of an odd number of more than a group is read by itself.
// CHECK: func.func private @h.init_state(%[[S:[^:]*]]: memref<{{[^,]*}}xf32>, %[[Q:.*]]: memref<?x9xbf16>)
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK-NOT: maskedload
// CHECK: vector.load %[[Q]]{{.*}} : memref<?x9xbf16>, vector<8xbf16>
// CHECK-NOT: maskedload
// CHECK: %[[LAST:.*]] = memref.load %[[Q]][%{{.*}}, %[[C8]]] : memref<?x9xbf16>
// CHECK-NEXT: %[[BITS:.*]] = arith.bitcast %[[LAST]] : bf16 to i16
// CHECK-NEXT: arith.extui %[[BITS]] : i16 to i32
// CHECK: %[[ROW:.*]] = vector.from_elements {{.*}} : vector<4xf32>
// CHECK: vector.store %[[ROW]], %[[S]]
func.func private @h.kernel(%q: memref<?x9xbf16>) {
  %s0 = attn.init_state %q scale 0.5 {schedule = #s} : memref<?x9xbf16> -> <8 x 9 x 6, f32>
  return
}
