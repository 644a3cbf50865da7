// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads of a warp share a row where something is added up along it; what is only elementwise has a thread for each element.
//
// RUN: attn-opt %s --attn-vectorize-linalg="lanes=1 item-elements=1 threads-of-row=32" --canonicalize --cse --split-input-file | FileCheck %s

#matrix = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// A sum of each row, by which the row is divided: each thread has every 32nd element, all have the sum.
// CHECK-LABEL: @normalize
// CHECK:         scf.forall (%[[ROW:.*]], %[[THREAD:.*]]) in (%{{.*}}, 32)
// CHECK:           scf.for %[[AT:.*]] = %{{.*}} to %{{.*}} step %c512 iter_args
// CHECK-COUNT-16:    memref.load
// CHECK:           scf.for %{{.*}} = %{{.*}} to %c1000 step %c32 iter_args
// CHECK-COUNT-5:   nvvm.shfl.sync
// CHECK:           scf.for %{{.*}} step %c512
// CHECK-COUNT-16:    memref.load
// CHECK-NOT:         memref.load
// CHECK-COUNT-16:    memref.store
// CHECK:           scf.for %{{.*}} step %c32
func.func @normalize(%x: memref<?x1000xf32>, %y: memref<?x1000xf32>, %n: index) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<?xf32>)
  linalg.generic {indexing_maps = [#matrix, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x1000xf32>) outs(%sum : memref<?xf32>) {
  ^bb0(%a: f32, %s: f32):
    %b = arith.addf %s, %a : f32
    linalg.yield %b : f32
  }
  linalg.generic {indexing_maps = [#matrix, #row, #matrix], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : memref<?x1000xf32>, memref<?xf32>) outs(%y : memref<?x1000xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %b = arith.divf %a, %s : f32
    linalg.yield %b : f32
  }
  return
}

// -----

#matrix = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// A sum that the caller gets: no thread reads it behind another's store.
// CHECK-LABEL: @added
// CHECK:         nvvm.shfl.sync
// CHECK:         memref.load %arg1
// CHECK:         nvvm.bar.warp.sync
// CHECK:         memref.store %{{.*}}, %arg1
func.func @added(%x: memref<?x1000xf32>, %sum: memref<?xf32>) {
  linalg.generic {indexing_maps = [#matrix, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x1000xf32>) outs(%sum : memref<?xf32>) {
  ^bb0(%a: f32, %s: f32):
    %b = arith.addf %s, %a : f32
    linalg.yield %b : f32
  }
  return
}

// -----

#matrix = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
#row = affine_map<(i, j) -> (i)>

// What a thread has alone: short rows, sums of 64 bits, and sums along columns, whose threads lie side by side.
// CHECK-LABEL: @alone
// CHECK-NOT:     nvvm
func.func @alone(%x: memref<?x16xf32>, %y: memref<?x1000xf64>, %z: memref<?x1000xf32>, %short: memref<?xf32>, %wide: memref<?xf64>, %columns: memref<1000xf32>) {
  linalg.generic {indexing_maps = [#matrix, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x16xf32>) outs(%short : memref<?xf32>) {
  ^bb0(%a: f32, %s: f32):
    %b = arith.addf %s, %a : f32
    linalg.yield %b : f32
  }
  linalg.generic {indexing_maps = [#matrix, #row], iterator_types = ["parallel", "reduction"]} ins(%y : memref<?x1000xf64>) outs(%wide : memref<?xf64>) {
  ^bb0(%a: f64, %s: f64):
    %b = arith.addf %s, %a : f64
    linalg.yield %b : f64
  }
  linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["reduction", "parallel"]} ins(%z : memref<?x1000xf32>) outs(%columns : memref<1000xf32>) {
  ^bb0(%a: f32, %s: f32):
    %b = arith.addf %s, %a : f32
    linalg.yield %b : f32
  }
  return
}

// -----

#matrix = affine_map<(i, j) -> (i, j)>
#loops = ["parallel", "parallel"]

// An element each.
// CHECK-LABEL: @elements
// CHECK:         scf.forall (%{{.*}}, %{{.*}}) in (%{{.*}}, 1000)
// CHECK-NOT:     nvvm
func.func @elements(%x: memref<?x1000xf32>, %y: memref<?x1000xf32>) {
  linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = #loops} ins(%x : memref<?x1000xf32>) outs(%y : memref<?x1000xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = math.absf %a : f32
    linalg.yield %b : f32
  }
  return
}
