// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise ops in a row are one pass over the values, without buffers between; what something else reads stays.
// RUN: attn-opt %s --compile-to=buffers | FileCheck %s

// CHECK-LABEL: func.func private @chain.kernel
// CHECK-NOT: memref.alloc
// CHECK:      linalg.generic {{.*}} ins(%arg0, %arg1 : {{.*}}) outs(%arg2 :
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:   %[[SUM:.*]] = arith.addf %[[X]], %[[Y]]
// CHECK-NEXT:   %[[MORE:.*]] = arith.addf %[[SUM]], %{{.*}}
// CHECK-NEXT:   %[[TANH:.*]] = math.tanh %[[MORE]]
// CHECK-NEXT:   %[[LESS:.*]] = arith.cmpf olt, %[[TANH]], %[[SUM]]
// CHECK-NEXT:   %[[RESULT:.*]] = arith.select %[[LESS]], %[[TANH]], %[[Y]]
// CHECK-NEXT:   linalg.yield %[[RESULT]]
// CHECK-NOT: linalg.generic
// CHECK-NOT: memref.copy
// CHECK: return
func.func @chain(%x: tensor<3x8xf32>, %y: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %half = arith.constant dense<0.5> : tensor<3x8xf32>
  %sum = arith.addf %x, %y : tensor<3x8xf32>
  %more = arith.addf %sum, %half : tensor<3x8xf32>
  %tanh = math.tanh %more : tensor<3x8xf32>
  %less = arith.cmpf olt, %tanh, %sum : tensor<3x8xf32>
  %result = arith.select %less, %tanh, %y : tensor<3x8xi1>, tensor<3x8xf32>
  return %result : tensor<3x8xf32>
}

// A value that is a result too is computed by itself.
// CHECK-LABEL: func.func private @both.kernel
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @both(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %sum = arith.addf %x, %x : tensor<?x8xf32>
  %tanh = math.tanh %sum : tensor<?x8xf32>
  return %sum, %tanh : tensor<?x8xf32>, tensor<?x8xf32>
}

// Other types in between: nothing of them is kept.
// CHECK-LABEL: func.func private @types.kernel
// CHECK-NOT: memref.alloc
// CHECK: linalg.generic
// CHECK: arith.extf
// CHECK: arith.truncf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @types(%x: tensor<3x8xf16>) -> tensor<3x8xf16> {
  %wide = arith.extf %x : tensor<3x8xf16> to tensor<3x8xf32>
  %tanh = math.tanh %wide : tensor<3x8xf32>
  %narrow = arith.truncf %tanh : tensor<3x8xf32> to tensor<3x8xf16>
  return %narrow : tensor<3x8xf16>
}

// A number that is the same everywhere is no tensor in memory, for a single op either.
// CHECK-LABEL: func.func private @one.kernel
// CHECK-NOT: memref.get_global
// CHECK:      linalg.generic {{.*}} ins(%arg0 : {{.*}}) outs(%arg1 :
// CHECK:        arith.addf %{{.*}}, %{{.*}} : f32
func.func @one(%x: tensor<1000x1000xf32>) -> tensor<1000x1000xf32> {
  %half = arith.constant dense<0.5> : tensor<1000x1000xf32>
  %sum = arith.addf %x, %half : tensor<1000x1000xf32>
  return %sum : tensor<1000x1000xf32>
}
