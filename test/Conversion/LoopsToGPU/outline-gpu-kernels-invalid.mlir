// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What neither the host nor a kernel can do.
//
// RUN: attn-opt %s --attn-outline-gpu-kernels --split-input-file --verify-diagnostics

// The host's control depends on numbers that lie on the device.
func.func private @length.kernel(%x: memref<index>, %out: memref<4xf32>, %work: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{'memref.load' op is not compiled for a GPU: the host would need what lies in the device's memory}}
  %items = memref.load %x[] : memref<index>
  scf.forall (%i) in (%items) {
    memref.store %zero, %out[%i] : memref<4xf32>
  }
  return
}

// -----

func.func private @row.kernel(%x: memref<4xindex>, %out: memref<4xindex>, %work: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (4) {
    %size = memref.load %x[%i] : memref<4xindex>
    // expected-error @+1 {{'memref.alloc' op is not compiled for a GPU: a row of a thread's own has a size that its item computes}}
    %row = memref.alloc(%size) : memref<?xindex>
    memref.store %size, %row[%c0] : memref<?xindex>
    %0 = memref.load %row[%c0] : memref<?xindex>
    memref.store %0, %out[%i] : memref<4xindex>
  }
  return
}

// -----

func.func private @call.kernel(%out: memref<4xindex>, %work: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  scf.forall (%i) in (4) {
    // expected-error @+1 {{'memref.store' op is not compiled for a GPU: this needs what only a CPU's function is given}}
    memref.store %threads, %out[%i] : memref<4xindex>
  }
  return
}

// -----

func.func private @vector.kernel(%v: vector<4xf32>, %out: memref<4xf32>, %work: memref<?xi8>, %threads: index, %call: !llvm.ptr) {
  // expected-error @+1 {{'scf.forall' op is not compiled for a GPU: its items use 'vector<4xf32>'}}
  scf.forall (%i) in (4) {
    %0 = vector.extract %v[0] : f32 from vector<4xf32>
    memref.store %0, %out[%i] : memref<4xf32>
  }
  return
}
