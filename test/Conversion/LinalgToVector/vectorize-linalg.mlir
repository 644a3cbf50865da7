// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-vectorize-linalg="lanes=8 masked-bits=32" --canonicalize --cse --split-input-file | FileCheck %s
// RUN: attn-opt %s --attn-vectorize-linalg="lanes=8" --canonicalize --cse --split-input-file | FileCheck %s --check-prefix=NUMBERS

// Rows are items; a sum has four parts, and starts with the number that was to be filled in.
// CHECK-LABEL: @sums
// CHECK:      scf.forall
// CHECK:        scf.for %[[ROW:.*]] =
// CHECK:          %[[PARTS:.*]]:4 = scf.for %{{.*}} = %c0 to %c768 step %c32
// CHECK-COUNT-4:    vector.load
// CHECK:          vector.extract_strided_slice
// CHECK:          memref.store %{{.*}}, %arg1[%[[ROW]]]
// CHECK-NOT:  linalg
func.func @sums(%x: memref<?x768xf32>, %sum: memref<?xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sum : memref<?xf32>)
  linalg.reduce { arith.addf } ins(%x : memref<?x768xf32>) outs(%sum : memref<?xf32>) dimensions = [1]
  return
}

// -----

// A mean, which lies nowhere, and what is left without it: one loop over rows.
#matrix = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i, 0)>
// CHECK-LABEL: @centered
// CHECK-NOT:  memref.alloc
// CHECK:      scf.forall
// CHECK-COUNT-1: scf.for %{{.*}} step %c1 {
// CHECK:      vector.broadcast %{{.*}} : f32 to vector<8xf32>
// CHECK:      scf.for
// CHECK:        arith.subf %{{.*}} : vector<8xf32>
// CHECK-NOT:  scf.forall
// CHECK:      return
func.func @centered(%x: memref<?x768xf32>, %y: memref<?x768xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x768xf32>
  %sum = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<?xf32>)
  linalg.reduce { arith.addf } ins(%x : memref<?x768xf32>) outs(%sum : memref<?xf32>) dimensions = [1]
  %kept = memref.expand_shape %sum [[0, 1]] output_shape [%n, 1] : memref<?xf32> into memref<?x1xf32>
  linalg.generic {indexing_maps = [#matrix, #row, #matrix], iterator_types = ["parallel", "parallel"]}
      ins(%x, %kept : memref<?x768xf32>, memref<?x1xf32>) outs(%y : memref<?x768xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %len = arith.constant 768.0 : f32
    %mean = arith.divf %s, %len : f32
    %d = arith.subf %a, %mean : f32
    linalg.yield %d : f32
  }
  return
}

// -----

// Sizes are the same in a row, too: the third has that of what the second wrote.
// CHECK-LABEL: @chained
// CHECK:      scf.forall
// CHECK:        memref.store %{{.*}}, %arg1
// CHECK-NOT:  scf.forall
// CHECK:      return
#matrix = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i)>
func.func @chained(%x: memref<?x8xf32>, %sum: memref<?xf32>, %y: memref<?x8xf32>, %z: memref<?x8xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sum : memref<?xf32>)
  linalg.reduce { arith.addf } ins(%x : memref<?x8xf32>) outs(%sum : memref<?xf32>) dimensions = [1]
  linalg.generic {indexing_maps = [#matrix, #rows, #matrix], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<?x8xf32>, memref<?xf32>) outs(%y : memref<?x8xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %d = arith.divf %a, %s : f32
    linalg.yield %d : f32
  }
  linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<?x8xf32>) outs(%z : memref<?x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %d = arith.mulf %a, %a : f32
    linalg.yield %d : f32
  }
  return
}

// -----

// Exponentials are added up as they are made, and kept in one row of memory until their sum is known.
// CHECK-LABEL: @quotients
// CHECK:      scf.forall
// CHECK:        %[[KEPT:.*]] = memref.alloc() : memref<768xf32>
// CHECK:        scf.for
// CHECK:          %{{.*}}:4 = scf.for
// CHECK:            %[[E:.*]] = math.exp %{{.*}} : vector<8xf32>
// CHECK-NEXT:       vector.store %[[E]], %[[KEPT]]
// CHECK-NEXT:       arith.addf %{{.*}}, %[[E]]
// CHECK:          scf.for
// CHECK:            vector.load %[[KEPT]]
// CHECK:            arith.divf
// CHECK-NOT:  memref.alloc
// CHECK:      return
func.func @quotients(%x: memref<?x768xf32>, %y: memref<?x768xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x768xf32>
  %e = memref.alloc(%n) : memref<?x768xf32>
  %sum = memref.alloc(%n) : memref<?xf32>
  linalg.exp ins(%x : memref<?x768xf32>) outs(%e : memref<?x768xf32>)
  linalg.fill ins(%zero : f32) outs(%sum : memref<?xf32>)
  linalg.reduce { arith.addf } ins(%e : memref<?x768xf32>) outs(%sum : memref<?xf32>) dimensions = [1]
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%e, %sum : memref<?x768xf32>, memref<?xf32>) outs(%y : memref<?x768xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %d = arith.divf %a, %s : f32
    linalg.yield %d : f32
  }
  return
}

// -----

// Other rows than those that were written: not before all of them are.
// CHECK-LABEL: @transposed
// CHECK-COUNT-2: scf.forall
// CHECK-NOT:  scf.forall
// CHECK:      return
func.func @transposed(%x: memref<768x768xf32>, %y: memref<768x768xf32>, %z: memref<768x768xf32>) {
  linalg.exp ins(%x : memref<768x768xf32>) outs(%y : memref<768x768xf32>)
  linalg.transpose ins(%y : memref<768x768xf32>) outs(%z : memref<768x768xf32>) permutation = [1, 0]
  return
}

// -----

// Another view of the same memory may be the same element.
// CHECK-LABEL: @views
// CHECK-COUNT-2: scf.forall
// CHECK-NOT:  scf.forall
// CHECK:      return
func.func @views(%x: memref<768x768xf32>, %y: memref<769x768xf32>) {
  %low = memref.subview %y[0, 0] [768, 768] [1, 1] : memref<769x768xf32> to memref<768x768xf32, strided<[768, 1]>>
  %high = memref.subview %y[1, 0] [768, 768] [1, 1] : memref<769x768xf32> to memref<768x768xf32, strided<[768, 1], offset: 768>>
  linalg.exp ins(%x : memref<768x768xf32>) outs(%low : memref<768x768xf32, strided<[768, 1]>>)
  linalg.exp ins(%x : memref<768x768xf32>) outs(%high : memref<768x768xf32, strided<[768, 1], offset: 768>>)
  return
}

// -----

// What is left of a row: under a mask, or number by number. So few elements are no items.
// CHECK-LABEL: @tail
// CHECK-NOT:  scf.forall
// CHECK:      %[[MASK:.*]] = vector.{{constant_mask \[5\]|create_mask %c5}} : vector<8xi1>
// CHECK:      vector.maskedload %{{.*}}, %[[MASK]]
// CHECK:      vector.maskedstore %{{.*}}, %[[MASK]]
// NUMBERS-LABEL: @tail
// NUMBERS-NOT: mask
// NUMBERS:     scf.for %{{.*}} = %c8 to %c13 step %c1
// NUMBERS:       memref.load
// NUMBERS-NOT: mask
func.func @tail(%x: memref<2x13xf32>, %y: memref<2x13xf32>) {
  linalg.exp ins(%x : memref<2x13xf32>) outs(%y : memref<2x13xf32>)
  return
}

// -----

// Lanes that do not count would divide by 0.
// CHECK-LABEL: @quotient
// CHECK-NOT:  mask
// CHECK:      return
func.func @quotient(%x: memref<2x13xi32>, %y: memref<2x13xi32>) {
  linalg.map { arith.divsi } ins(%x, %x : memref<2x13xi32>, memref<2x13xi32>) outs(%y : memref<2x13xi32>)
  return
}

// -----

// Items start no others; what a kernel fills with a stride stays.
// CHECK-LABEL: @items
// CHECK:      scf.forall
// CHECK:        linalg.fill ins(%{{.*}}) outs(%{{.*}} : memref<16xf32, strided<[?]>>)
// CHECK-NOT:  scf.forall
// CHECK:        vector.store %{{.*}} : memref<16xf32>, vector<8xf32>
// CHECK-NOT:  scf.forall
// CHECK:        math.exp %{{.*}} : vector<8xf32>
// CHECK:      return
func.func @items(%x: memref<?x768xf32>, %y: memref<?x768xf32>, %z: memref<16xf32, strided<[?]>>, %w: memref<16xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (4) {
    linalg.fill ins(%zero : f32) outs(%z : memref<16xf32, strided<[?]>>)
    linalg.fill ins(%zero : f32) outs(%w : memref<16xf32>)
    linalg.exp ins(%x : memref<?x768xf32>) outs(%y : memref<?x768xf32>)
  }
  return
}

// -----

// Rows of a table: the row is found once, and read in vectors.
// CHECK-LABEL: @lookup
// CHECK:      %[[ID:.*]] = memref.load %arg1
// CHECK:      %[[AT:.*]] = arith.index_cast %[[ID]]
// CHECK:      scf.for %[[J:.*]] =
// CHECK:        vector.load %arg0[%[[AT]], %[[J]]]
func.func @lookup(%table: memref<100x768xf32>, %ids: memref<?xi64>, %y: memref<?x768xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%ids : memref<?xi64>) outs(%y : memref<?x768xf32>) {
  ^bb0(%id: i64, %o: f32):
    %at = arith.index_cast %id : i64 to index
    %j = linalg.index 1 : index
    %v = memref.load %table[%at, %j] : memref<100x768xf32>
    linalg.yield %v : f32
  }
  return
}

// -----

// A body with branches goes number by number, in parallel all the same.
// CHECK-LABEL: @branches
// CHECK:      scf.forall
// CHECK-NOT:  vector
// CHECK:      scf.if
// CHECK-NOT:  vector
// CHECK:      return
func.func @branches(%x: memref<?x768xf32>, %y: memref<?x768xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.map ins(%x : memref<?x768xf32>) outs(%y : memref<?x768xf32>) (%a: f32, %o: f32) {
    %positive = arith.cmpf ogt, %a, %zero : f32
    %r = scf.if %positive -> f32 {
      %root = math.sqrt %a : f32
      scf.yield %root : f32
    } else {
      scf.yield %zero : f32
    }
    linalg.yield %r : f32
  }
  return
}

// -----

// Sums of columns are items of as many columns as have the elements of an item; all that goes along with them is, too.
#matrix = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
#same = affine_map<(j) -> (j)>
// CHECK-LABEL: @columns
// CHECK:      scf.forall (%[[PART:.*]]) in (16)
// CHECK:        %[[BEGIN:.*]] = arith.muli %[[PART]], %c64
// CHECK:        scf.for %{{.*}} = %[[BEGIN]]
// CHECK-NOT:  scf.forall
// CHECK:        arith.mulf
// CHECK:      return
func.func @columns(%x: memref<1000x1024xf32>, %sum: memref<1024xf32>, %mean: memref<1024xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sum : memref<1024xf32>)
  linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["reduction", "parallel"]} ins(%x : memref<1000x1024xf32>) outs(%sum : memref<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%sum : memref<1024xf32>) outs(%mean : memref<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.constant 0.001 : f32
    %m = arith.mulf %a, %n : f32
    linalg.yield %m : f32
  }
  return
}

// -----

// What the same turn overwrites is not stored.
#matrix = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
// CHECK-LABEL: @overwritten
// CHECK:      %[[B:.*]] = vector.load %arg1
// CHECK-NOT:  vector.store
// CHECK:      arith.addf %{{.*}}, %[[B]]
// CHECK:      vector.store
// CHECK-NOT:  vector.store
// CHECK:      return
func.func @overwritten(%x: memref<8x64xf32>, %b: memref<64xf32>, %y: memref<8x64xf32>) {
  linalg.broadcast ins(%b : memref<64xf32>) outs(%y : memref<8x64xf32>) dimensions = [0]
  linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]} ins(%x : memref<8x64xf32>) outs(%y : memref<8x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  }
  return
}
