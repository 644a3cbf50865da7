// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --attn-lower-gpu-functions --split-input-file --verify-diagnostics

gpu.module @kernels {
  // expected-error @+1 {{'gpu.func' op takes an argument that no launch passes: 'vector<4xf32>'}}
  gpu.func @k(%x: vector<4xf32>) kernel {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @k() kernel {
    // expected-error @+1 {{'gpu.lane_id' op is not one that kernels have}}
    %0 = gpu.lane_id
    gpu.return
  }
}
