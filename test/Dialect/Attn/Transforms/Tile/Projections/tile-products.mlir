// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-assign-gpu-schedule --attn-tile-products --canonicalize --cse --split-input-file | FileCheck %s

// An unknown number of rows: loops for few, for such as are too few large tiles, and for many, of which one has items.
// CHECK-LABEL: func.func @unknown(
// CHECK-DAG:     %[[ROWS:.*]] = tensor.dim %arg0, %c0
// CHECK-DAG:     %[[FEW:.*]] = arith.cmpi ule, %[[ROWS]], %c16
// CHECK-DAG:     %[[OF_FEW:.*]] = arith.select %[[FEW]], %c1, %c0
// CHECK:         %[[A:.*]] = scf.forall (%{{.*}}) in (%[[OF_FEW]], %{{.*}}, 12) shared_outs
// CHECK:           attn.project_block {{.*}} {schedule = #attn.gpu_schedule<query_tile = 16, key_tile = 16, warps = 1>} : tensor<?x64xbf16>, tensor<64x16xbf16>
// CHECK:         %[[TILES:.*]] = arith.muli %{{.*}}, %c2
// CHECK:         arith.cmpi ult, %[[TILES]], %c96
// CHECK:         %[[B:.*]] = scf.forall {{.*}} in (%{{.*}}, %{{.*}}, 3) shared_outs(%{{.*}} = %[[A]])
// CHECK:           attn.project_block {{.*}} {schedule = #attn.gpu_schedule<query_tile = 64, key_tile = 64, warps = 4, column_warps = 2>} : tensor<?x64xbf16>, tensor<64x64xbf16>
// CHECK:         %[[C:.*]] = scf.forall {{.*}} shared_outs(%{{.*}} = %[[B]])
// CHECK:           attn.project_block {{.*}}query_tile = 128, key_tile = 128, {{.*}} : tensor<?x64xbf16>, tensor<64x128xbf16>
// CHECK:         %[[D:.*]] = scf.forall {{.*}} shared_outs(%{{.*}} = %[[C]])
// CHECK:           attn.project_block {{.*}}query_tile = 128, key_tile = 64, {{.*}} : tensor<?x64xbf16>, tensor<64x64xbf16>
// CHECK:         return %[[D]]
func.func @unknown(%x: tensor<?x64xbf16>, %w: tensor<64x192xbf16>) -> tensor<?x192xbf16> {
  %0 = attn.project %x, %w : (tensor<?x64xbf16>, tensor<64x192xbf16>) -> tensor<?x192xbf16>
  return %0 : tensor<?x192xbf16>
}

// -----

// Known sizes have one loop; the bias goes with its columns, and a transposed weight stays so.
// CHECK-LABEL: func.func @known(
// CHECK-COUNT-1: scf.forall (
// CHECK:         attn.project_block %{{.*}}, %{{.*}} transposed bias %{{.*}} : tensor<32xf16>
// CHECK-SAME:      tensor<16x64xf16>, tensor<32x64xf16>
// CHECK-NOT:     scf.forall (
func.func @known(%x: tensor<16x64xf16>, %w: tensor<4096x64xf16>, %b: tensor<4096xf16>) -> tensor<16x4096xf16> {
  %0 = attn.project %x, %w transposed, %b : (tensor<16x64xf16>, tensor<4096x64xf16>, tensor<4096xf16>) -> tensor<16x4096xf16>
  return %0 : tensor<16x4096xf16>
}

// -----

// Batch entries of one row are the rows; a weight per entry is that of the entry.
// CHECK-LABEL: func.func @joined(
// CHECK:         tensor.extract_slice %arg0[0, 0, 0] [40, 1, 32] [1, 1, 1] : tensor<40x1x32xf32> to tensor<40x32xf32>
// CHECK-LABEL: func.func @entries(
// CHECK:         scf.forall (%[[N:.*]]) in (%{{.*}})
// CHECK:           tensor.extract_slice %arg1[%[[N]], 0, 0] [1, 32, 16] [1, 1, 1] : tensor<?x32x16xf32> to tensor<32x16xf32>
func.func @joined(%x: tensor<40x1x32xf32>, %w: tensor<32x16xf32>) -> tensor<40x1x16xf32> {
  %0 = attn.project %x, %w : (tensor<40x1x32xf32>, tensor<32x16xf32>) -> tensor<40x1x16xf32>
  return %0 : tensor<40x1x16xf32>
}
func.func @entries(%x: tensor<?x9x32xf32>, %w: tensor<?x32x16xf32>) -> tensor<?x9x16xf32> {
  %0 = attn.project %x, %w : (tensor<?x9x32xf32>, tensor<?x32x16xf32>) -> tensor<?x9x16xf32>
  return %0 : tensor<?x9x16xf32>
}

// -----

// What has no tiles is left: unknown columns, f64, few features.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-3: attn.project %
// CHECK-NOT:     attn.project_block
func.func @others(%x: tensor<?x32xf32>, %w: tensor<32x?xf32>, %y: tensor<?x32xf64>, %u: tensor<32x32xf64>, %z: tensor<?x8xf32>, %v: tensor<8x32xf32>)
    -> (tensor<?x?xf32>, tensor<?x32xf64>, tensor<?x32xf32>) {
  %0 = attn.project %x, %w : (tensor<?x32xf32>, tensor<32x?xf32>) -> tensor<?x?xf32>
  %1 = attn.project %y, %u : (tensor<?x32xf64>, tensor<32x32xf64>) -> tensor<?x32xf64>
  %2 = attn.project %z, %v : (tensor<?x8xf32>, tensor<8x32xf32>) -> tensor<?x32xf32>
  return %0, %1, %2 : tensor<?x?xf32>, tensor<?x32xf64>, tensor<?x32xf32>
}

// -----

// From 4096 bytes of features on few tiles have parts of these, whose sums are added behind, with the bias and what follows.
// CHECK-LABEL: func.func @parts(
// CHECK:         %[[SUMS:.*]] = tensor.empty() : tensor<4x9x64xf32>
// CHECK:         %[[PARTS:.*]] = scf.forall (%{{.*}}, %[[PART:.*]]) in (4, 4) shared_outs(%{{.*}} = %[[SUMS]])
// CHECK:           %[[FIRST:.*]] = arith.muli %[[PART]], %c512
// CHECK:           tensor.extract_slice %arg0[0, %[[FIRST]]] [9, 512]
// CHECK-NOT:       bias
// CHECK:           attn.project_block {{.*}} {schedule = #attn.gpu_schedule<query_tile = 16, key_tile = 16, warps = 1, feature_parts = 4>} : tensor<9x512xbf16>, tensor<512x16xbf16>
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<9x64xbf16>)
// CHECK-COUNT-3:   arith.addf %{{.*}} : f32
// CHECK:           arith.extf %{{.*}} : bf16 to f32
// CHECK:           arith.addf %{{.*}} : f32
// CHECK:           arith.truncf %{{.*}} : f32 to bf16
// CHECK:           math.absf
// CHECK-NOT:     scf.forall
func.func @parts(%x: tensor<9x2048xbf16>, %w: tensor<2048x64xbf16>, %b: tensor<64xbf16>) -> tensor<9x64xbf16> {
  %0 = attn.project %x, %w, %b : (tensor<9x2048xbf16>, tensor<2048x64xbf16>, tensor<64xbf16>) -> tensor<9x64xbf16>
  %1 = math.absf %0 : tensor<9x64xbf16>
  return %1 : tensor<9x64xbf16>
}

// -----

// Fewer features, and such that are not even, have one part.
// CHECK-LABEL: func.func @one_part(
// CHECK-NOT:     feature_parts
func.func @one_part(%x: tensor<9x1984xbf16>, %w: tensor<1984x64xbf16>, %y: tensor<9x2049xbf16>, %v: tensor<2049x64xbf16>) -> (tensor<9x64xbf16>, tensor<9x64xbf16>) {
  %0 = attn.project %x, %w : (tensor<9x1984xbf16>, tensor<1984x64xbf16>) -> tensor<9x64xbf16>
  %1 = attn.project %y, %v : (tensor<9x2049xbf16>, tensor<2049x64xbf16>) -> tensor<9x64xbf16>
  return %0, %1 : tensor<9x64xbf16>, tensor<9x64xbf16>
}

// -----

// Elementwise ops behind a product are computed with its sums; another user keeps them out.
// CHECK-LABEL: func.func @epilogue(
// CHECK:         attn.project_block %{{.*}} with %{{.*}} : tensor<{{.*}}xf16> epilogue {
// CHECK-NEXT:    ^bb0(%[[SUM:.*]]: f16, %[[R:.*]]: f16):
// CHECK:           arith.addf
// CHECK:         } outs
// CHECK-NOT:     arith.addf {{.*}} tensor
// CHECK:         return
func.func @epilogue(%x: tensor<9x64xf16>, %w: tensor<64x16xf16>, %r: tensor<9x16xf16>) -> tensor<9x16xf16> {
  %0 = attn.project %x, %w : (tensor<9x64xf16>, tensor<64x16xf16>) -> tensor<9x16xf16>
  %1 = arith.addf %0, %r : tensor<9x16xf16>
  return %1 : tensor<9x16xf16>
}
// CHECK-LABEL: func.func @second_user(
// CHECK-NOT:     epilogue
// CHECK:         arith.addf {{.*}} tensor<9x16xf16>
func.func @second_user(%x: tensor<9x64xf16>, %w: tensor<64x16xf16>, %r: tensor<9x16xf16>) -> (tensor<9x16xf16>, tensor<9x16xf16>) {
  %0 = attn.project %x, %w : (tensor<9x64xf16>, tensor<64x16xf16>) -> tensor<9x16xf16>
  %1 = arith.addf %0, %r : tensor<9x16xf16>
  return %1, %0 : tensor<9x16xf16>, tensor<9x16xf16>
}
