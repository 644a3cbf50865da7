// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel with a function that multiplies tiles asks for tile registers, behind
// all rules for its arguments; another kernel, and one for another target, does not.
// RUN: attn-opt %s --attn-emit-entry=tiles | FileCheck %s
// RUN: attn-opt %s --attn-emit-entry | FileCheck %s --check-prefix=NONE
// NONE-NOT: attn_rt_request_tiles
// NONE-NOT: tile registers

// CHECK: llvm.func @f(%{{.*}} attn.statuses = [{{.*}}"out: dimension 1 has stride 0, which only inputs may have", "processor: has no tile registers (AMX), or the system refuses them"]
// CHECK: %[[REFUSED:.*]] = llvm.call @attn_rt_request_tiles() : () -> i32
// CHECK: %[[BROKEN:.*]] = llvm.icmp "ne" %[[REFUSED]], %{{.*}} : i32
// CHECK: %[[STATUS:.*]] = llvm.mlir.constant(-11 : i32) : i32
// CHECK: llvm.select %[[BROKEN]], %[[STATUS]]
// CHECK: call @f.workspace(
// CHECK: llvm.func @g(%
// CHECK-NOT: attn_rt_request_tiles
#a = affine_map<(i, j, p, w) -> (i, p, w)>
#b = affine_map<(i, j, p, w) -> (p, j, w)>
#c = affine_map<(i, j, p, w) -> (i, j)>
func.func private @f.online_full(%x: vector<16x16x2xbf16>, %c: vector<16x16xf32>) -> vector<16x16xf32> {
  %n = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction", "reduction"], kind = #vector.kind<add>} %x, %x, %c
      : vector<16x16x2xbf16>, vector<16x16x2xbf16> into vector<16x16xf32>
  return %n : vector<16x16xf32>
}
func.func private @f.kernel(%o: memref<?x4xf32, strided<[?, ?], offset: ?>>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr)
    attributes {attn.ports = [#attn.port<"out", output [x0, 4] : tensor<?x4xf32>>]} {
  return
}
func.func private @f.workspace(%o: memref<?x4xf32, strided<[?, ?], offset: ?>>, %threads: index) -> index {
  return %threads : index
}
func.func private @f.flops() -> f64 {
  %zero = arith.constant 0.0 : f64
  return %zero : f64
}
func.func private @g.kernel(%o: memref<?x4xf32, strided<[?, ?], offset: ?>>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr)
    attributes {attn.ports = [#attn.port<"out", output [x0, 4] : tensor<?x4xf32>>]} {
  return
}
func.func private @g.workspace(%o: memref<?x4xf32, strided<[?, ?], offset: ?>>, %threads: index) -> index {
  return %threads : index
}
func.func private @g.flops() -> f64 {
  %zero = arith.constant 0.0 : f64
  return %zero : f64
}
