// RUN: not attn-reference %s --entry=unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN --implicit-check-not=error:
// RUN: not attn-reference %s --entry=memref 2>&1 | FileCheck %s --check-prefix=MEMREF --implicit-check-not=error:
// RUN: not attn-reference %s --entry=outside 2>&1 | FileCheck %s --check-prefix=OUTSIDE --implicit-check-not=error:
// RUN: not attn-reference %s --entry=sizes 2>&1 | FileCheck %s --check-prefix=SIZES --implicit-check-not=error:
// RUN: not attn-reference %s --entry=cast 2>&1 | FileCheck %s --check-prefix=CAST --implicit-check-not=error:
// RUN: not attn-reference %s --entry=endless 2>&1 | FileCheck %s --check-prefix=ENDLESS --implicit-check-not=error:
// RUN: not attn-reference %s --entry=huge 2>&1 | FileCheck %s --check-prefix=HUGE --implicit-check-not=error:
// RUN: not attn-reference %s --entry=empty_step 2>&1 | FileCheck %s --check-prefix=STEP --implicit-check-not=error:
// RUN: not attn-reference %s --entry=nothing 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not attn-reference %s --entry=argument 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// RUN: not attn-reference %s --entry=argument %t.absent.npy 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not attn-reference %t.absent.mlir 2>&1 | FileCheck %s --check-prefix=ABSENT
// What cannot be evaluated is an error at the op, in one line.

// UNKNOWN: errors.mlir:[[@LINE+3]]:8: error: 'math.atan' op cannot be evaluated by the reference
func.func @unknown() -> f32 {
  %x = arith.constant 1.0 : f32
  %y = math.atan %x : f32
  return %y : f32
}

// MEMREF: error: 'memref.alloc' op cannot be evaluated by the reference: it has a value of type 'memref<2xf32>'
func.func @memref() {
  %m = memref.alloc() : memref<2xf32>
  return
}

// OUTSIDE: error: 'tensor.extract_slice' op leaves its tensor in dimension 0: offset 3, size 2, stride 1, but the tensor has size 4
func.func @outside() -> tensor<2xf32> {
  %x = arith.constant dense<0.0> : tensor<4xf32>
  %c3 = arith.constant 3 : index
  %r = tensor.extract_slice %x[%c3] [2] [1] : tensor<4xf32> to tensor<2xf32>
  return %r : tensor<2xf32>
}

// SIZES: error: 'attn.scores' op expects the same inner size
func.func @sizes() -> tensor<?x?xf32> {
  %x = arith.constant dense<0.0> : tensor<2x3xf32>
  %y = arith.constant dense<0.0> : tensor<2x2xf32>
  %a = tensor.cast %x : tensor<2x3xf32> to tensor<?x?xf32>
  %b = tensor.cast %y : tensor<2x2xf32> to tensor<?x?xf32>
  %r = attn.scores %a, %b : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CAST: error: 'tensor.cast' op has a result of type 'tensor<3xf32>', but its shape is 2
func.func @cast() -> tensor<3xf32> {
  %x = arith.constant dense<0.0> : tensor<2xf32>
  %a = tensor.cast %x : tensor<2xf32> to tensor<?xf32>
  %b = tensor.cast %a : tensor<?xf32> to tensor<3xf32>
  return %b : tensor<3xf32>
}

// ENDLESS: error: 'func.func' op is called too deeply
func.func @endless() {
  call @endless() : () -> ()
  return
}

// HUGE: error: 'tensor.empty' op has a tensor of more than 268435456 elements
func.func @huge() -> tensor<?x1048576xf32> {
  %n = arith.constant 1048576 : index
  %e = tensor.empty(%n) : tensor<?x1048576xf32>
  return %e : tensor<?x1048576xf32>
}

// STEP: error: 'scf.for' op expects a positive step, but got 0
func.func @empty_step() {
  %c0 = arith.constant 0 : index
  scf.for %i = %c0 to %c0 step %c0 {
  }
  return
}

// NOTHING: attn-reference: error: there is no function @nothing
// ARGUMENT: attn-reference: error: @argument has 1 arguments, but 0 files are given
// FILE: attn-reference: error: {{.*}}absent.npy: {{.+}}
// ABSENT: error: {{.*}}absent.mlir
func.func @argument(%x: tensor<2xf32>) {
  return
}
