// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kernels read at least `least` bytes of stands in a file, whose tensors begin at
// multiples of 64 bytes; the entry maps it when all arguments are right.
// RUN: attn-opt %s --attn-externalize-weights="path=some/w.weights least=8" | FileCheck %s
// RUN: attn-opt %s --attn-externalize-weights="path=some/w.weights least=8" --attn-emit-entry | FileCheck %s --check-prefix=ENTRY
// RUN: attn-opt %s --attn-externalize-weights="path=w least=4096" --attn-emit-entry | FileCheck %s --check-prefix=NONE

// The name of @w is that of its bytes; @b has 12 bytes, so that 52 follow.
// CHECK: module attributes {attn.weights_file = {header = "
// CHECK-SAME: {\22__metadata__\22:{\22attn.identity\22:\22{{[0-9a-f]+}}\22},\22b\22:{\22dtype\22:\22I32\22,\22shape\22:[3],\22data_offsets\22:[0,12]},\22attn.padding.1\22:{\22dtype\22:\22U8\22,\22shape\22:[52],\22data_offsets\22:[12,64]},\22tensor\22:{\22dtype\22:\22F32\22,\22shape\22:[2,2],\22data_offsets\22:[64,80]}}
// CHECK-SAME: path = "some/w.weights", tensors = [dense<[1, 2, 3]> : tensor<3xi32>, dense_resource<tensor> : tensor<2x2xf32>]

// Less than 8 bytes, bits, one number for all, what @f.flops reads, and what may be
// written stay.
// CHECK-NOT: @b
// CHECK-NOT: @w
// CHECK: memref.global "private" constant @small
// CHECK: memref.global "private" constant @bits
// CHECK: memref.global "private" constant @splat
// CHECK: memref.global "private" constant @counted
// CHECK: memref.global "private" @written
memref.global "private" constant @b : memref<3xi32> = dense<[1, 2, 3]>
memref.global "private" constant @w : memref<2x2xf32> = dense_resource<tensor>
memref.global "private" constant @small : memref<1xf32> = dense<[1.0]>
memref.global "private" constant @bits : memref<9xi1> = dense<[1, 0, 0, 1, 0, 0, 1, 0, 0]>
memref.global "private" constant @splat : memref<9xf32> = dense<1.0>
memref.global "private" constant @counted : memref<2xf64> = dense<[1.0, 2.0]>
memref.global "private" @written : memref<2xf64> = dense<[1.0, 3.0]>

// An item reads the address of the file, which is mapped then, where it reads the weight.
// CHECK-LABEL: func.func private @f.items
// CHECK: %[[INFO:.*]] = llvm.mlir.addressof @attn.weights
// CHECK: %[[DATA:.*]] = llvm.getelementptr %[[INFO]]
// CHECK: %[[FILE:.*]] = llvm.load %[[DATA]]
// CHECK: %[[AT:.*]] = llvm.mlir.constant({{[0-9]+}} : i64)
// CHECK: llvm.getelementptr %[[FILE]][%[[AT]]]
// CHECK: builtin.unrealized_conversion_cast %{{.*}} to memref<2x2xf32>
// CHECK: memref.get_global @small
func.func private @f.items(%o: memref<?x4xf32, strided<[?, ?], offset: ?>>) {
  %c0 = arith.constant 0 : index
  %w = memref.get_global @w : memref<2x2xf32>
  %small = memref.get_global @small : memref<1xf32>
  %x = memref.load %w[%c0, %c0] : memref<2x2xf32>
  %y = memref.load %small[%c0] : memref<1xf32>
  %z = arith.addf %x, %y : f32
  memref.store %z, %o[%c0, %c0] : memref<?x4xf32, strided<[?, ?], offset: ?>>
  return
}
// CHECK-LABEL: func.func private @f.kernel
// CHECK: builtin.unrealized_conversion_cast %{{.*}} to memref<3xi32>
func.func private @f.kernel(%o: memref<?x4xf32, strided<[?, ?], offset: ?>>, %ws: memref<?xi8>, %threads: index, %call: !llvm.ptr)
    attributes {attn.ports = [#attn.port<"out", output [x0, 4] : tensor<?x4xf32>>]} {
  %c0 = arith.constant 0 : index
  %b = memref.get_global @b : memref<3xi32>
  %i = memref.load %b[%c0] : memref<3xi32>
  %x = arith.sitofp %i : i32 to f32
  memref.store %x, %o[%c0, %c0] : memref<?x4xf32, strided<[?, ?], offset: ?>>
  call @f.items(%o) : (memref<?x4xf32, strided<[?, ?], offset: ?>>) -> ()
  return
}
func.func private @f.workspace(%o: memref<?x4xf32, strided<[?, ?], offset: ?>>, %threads: index) -> index {
  return %threads : index
}
// CHECK-LABEL: func.func private @f.flops
// CHECK: memref.get_global @counted
func.func private @f.flops() -> f64 {
  %c0 = arith.constant 0 : index
  %counted = memref.get_global @counted : memref<2xf64>
  %x = memref.load %counted[%c0] : memref<2xf64>
  return %x : f64
}

// What the runtime compares: the path, what the file begins with and how long that is, its
// bytes, and no address yet.
// CHECK: llvm.mlir.global private constant @attn.weights.path("some/w.weights\00")
// CHECK: llvm.mlir.global private constant @attn.weights.begin("{{.*}}{\22__metadata__\22:{\22attn.identity\22:\22{{[0-9a-f]+}}")
// CHECK: llvm.mlir.global internal @attn.weights()

// ENTRY: llvm.func @f(%{{.*}} attn.statuses = [{{.*}}"weights: there is no file to read; {{.*}}'w.weights'{{.*}}", "weights: the file 'w.weights' is not {{.*}}", "weights: the system does not map the file 'w.weights'"]
// ENTRY: llvm.call @f.check_shapes
// ENTRY: %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
// ENTRY: %[[INFO:.*]] = llvm.mlir.addressof @attn.weights
// ENTRY: %[[FAILURE:.*]] = llvm.call @attn_rt_map_weights(%[[INFO]], %[[NULL]])
// ENTRY: %[[BEFORE:.*]] = llvm.mlir.constant(-10 : i32)
// ENTRY: llvm.sub %[[BEFORE]], %[[FAILURE]]
// ENTRY: call @f.workspace
// ENTRY: llvm.func @f_load_weights(%[[PATH:.*]]: !llvm.ptr) -> i32
// ENTRY: llvm.call @attn_rt_map_weights(%{{.*}}, %[[PATH]])

// NONE-NOT: attn.weights
// NONE: memref.get_global @w
// NONE-NOT: attn_rt_map_weights
// NONE-NOT: load_weights

{-#
  dialect_resources: {
    builtin: {
      tensor: "0x400000000000803f0000004000000000000080bf"
    }
  }
#-}
