// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands around attention: norms, residuals, elementwise steps; sizes that
// are known and that are not, in all widths of floats.
func.func @rms(%x: tensor<?x64xf32>, %g: tensor<64xf32>) -> tensor<?x64xf32> {
  %0 = attn.rms_norm %x, %g eps 1.0e-6 : tensor<?x64xf32>, tensor<64xf32>
  return %0 : tensor<?x64xf32>
}

// A row of a thread's own memory, and columns that are no multiple of 4.
func.func @residual_norm(%x: tensor<2x?x37xf16>, %r: tensor<2x?x37xf16>, %g: tensor<37xf16>, %b: tensor<37xf16>) -> tensor<2x?x37xf16> {
  %0 = arith.addf %x, %r : tensor<2x?x37xf16>
  %1 = attn.layer_norm %0, %g, %b eps 1.0e-5 : tensor<2x?x37xf16>, tensor<37xf16>, tensor<37xf16>
  return %1 : tensor<2x?x37xf16>
}

func.func @swiglu(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = arith.negf %x : tensor<?x?xf32>
  %1 = math.exp %0 : tensor<?x?xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %one = arith.constant 1.0 : f32
  %ones = tensor.splat %one[%m, %n] : tensor<?x?xf32>
  %2 = arith.addf %1, %ones : tensor<?x?xf32>
  %3 = arith.divf %x, %2 : tensor<?x?xf32>
  %4 = arith.mulf %3, %y : tensor<?x?xf32>
  return %4 : tensor<?x?xf32>
}

// Two results of one argument.
func.func @two(%x: tensor<3x?xbf16>) -> (tensor<3x?xbf16>, tensor<3x?xbf16>) {
  %0 = math.tanh %x : tensor<3x?xbf16>
  %1 = arith.addf %x, %x : tensor<3x?xbf16>
  return %0, %1 : tensor<3x?xbf16>, tensor<3x?xbf16>
}

func.func @wide(%x: tensor<7xf64>) -> tensor<7xf64> {
  %0 = math.absf %x : tensor<7xf64>
  %1 = math.sqrt %0 : tensor<7xf64>
  %2 = math.exp %1 : tensor<7xf64>
  return %2 : tensor<7xf64>
}

func.func @integers(%x: tensor<5x?xi32>) -> tensor<5x?xf32> {
  %0 = arith.sitofp %x : tensor<5x?xi32> to tensor<5x?xf32>
  %1 = arith.mulf %0, %0 : tensor<5x?xf32>
  return %1 : tensor<5x?xf32>
}

func.func @one(%x: tensor<1xf32>) -> tensor<1xf32> {
  %0 = arith.addf %x, %x : tensor<1xf32>
  return %0 : tensor<1xf32>
}

// The sum of a row, and of a column.
func.func @sums(%x: tensor<?x6xf32>) -> (tensor<?xf32>, tensor<6xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x6xf32>
  %e0 = tensor.empty(%m) : tensor<?xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?xf32>) -> tensor<?xf32>
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<?x6xf32>) outs(%f0 : tensor<?xf32>) dimensions = [1]
  %e1 = tensor.empty() : tensor<6xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<6xf32>) -> tensor<6xf32>
  %1 = linalg.reduce { arith.addf } ins(%x : tensor<?x6xf32>) outs(%f1 : tensor<6xf32>) dimensions = [0]
  return %0, %1 : tensor<?xf32>, tensor<6xf32>
}

// One loop for both: the second reads what its own thread has written.
func.func @chain(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = attn.rms_norm %x eps 1.0e-5 : tensor<?x8xf32>
  %1 = math.tanh %0 : tensor<?x8xf32>
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}

func.func @transpose(%x: tensor<4x6xf16>, %y: tensor<6x4xf16>) -> tensor<6x4xf16> {
  %e = tensor.empty() : tensor<6x4xf16>
  %0 = linalg.transpose ins(%x : tensor<4x6xf16>) outs(%e : tensor<6x4xf16>) permutation = [1, 0]
  %1 = arith.mulf %0, %y : tensor<6x4xf16>
  return %1 : tensor<6x4xf16>
}

func.func @constant(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0], [5.0, 6.0, 7.0]]> : tensor<2x3xf32>
  %0 = arith.mulf %x, %w : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @same(%x: tensor<?x3xbf16>) -> tensor<?x3xbf16> {
  return %x : tensor<?x3xbf16>
}

// A buffer between kernels, of the sum that two of them read.
func.func @residual(%x: tensor<?x64xf32>, %g: tensor<64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %n = attn.rms_norm %x, %g eps 1.0e-5 : tensor<?x64xf32>, tensor<64xf32>
  %r = arith.addf %x, %n : tensor<?x64xf32>
  %m = attn.rms_norm %r, %g eps 1.0e-5 : tensor<?x64xf32>, tensor<64xf32>
  return %r, %m : tensor<?x64xf32>, tensor<?x64xf32>
}

func.func @rope(%q: tensor<2x3x?x8xf32>, %cos: tensor<16x4xf32>, %sin: tensor<16x4xf32>) -> tensor<2x3x?x8xf32> {
  %0 = attn.rope %q, %cos, %sin : tensor<2x3x?x8xf32>, tensor<16x4xf32>
  return %0 : tensor<2x3x?x8xf32>
}

// A row of a length that is not known: each thread has one in the work space.
func.func @long_row(%x: tensor<40x?xf16>, %y: tensor<40x?xf16>) -> tensor<40x?xf16> {
  %0 = arith.addf %x, %y : tensor<40x?xf16>
  %1 = attn.rms_norm %0 eps 1.0e-5 : tensor<40x?xf16>
  return %1 : tensor<40x?xf16>
}

// A loop of the host's.
func.func @loop(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %s = math.tanh %x : tensor<4x8xf32>
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%y = %s) -> tensor<4x8xf32> {
    %1 = arith.mulf %y, %s : tensor<4x8xf32>
    scf.yield %1 : tensor<4x8xf32>
  }
  return %0 : tensor<4x8xf32>
}

func.func @product(%x: tensor<?x24xf16>, %w: tensor<24x9xf16>, %b: tensor<9xf16>) -> tensor<?x9xf16> {
  %0 = attn.project %x, %w, %b : (tensor<?x24xf16>, tensor<24x9xf16>, tensor<9xf16>) -> tensor<?x9xf16>
  return %0 : tensor<?x9xf16>
}

// A layer without its attention: norm, two products with a step between, residual.
func.func @feed_forward(%x: tensor<2x?x16xf32>, %g: tensor<16xf32>, %up: tensor<16x40xf32>, %down: tensor<40x16xf32>) -> tensor<2x?x16xf32> {
  %n = attn.rms_norm %x, %g eps 1.0e-6 : tensor<2x?x16xf32>, tensor<16xf32>
  %h = attn.project %n, %up : (tensor<2x?x16xf32>, tensor<16x40xf32>) -> tensor<2x?x40xf32>
  %t = math.tanh %h : tensor<2x?x40xf32>
  %d = attn.project %t, %down : (tensor<2x?x40xf32>, tensor<40x16xf32>) -> tensor<2x?x16xf32>
  %0 = arith.addf %x, %d : tensor<2x?x16xf32>
  return %0 : tensor<2x?x16xf32>
}
