// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What threads of a warp add up together: rows of any length, of several types, with numbers of a row as results and in between.

// A mean and a variance, both results, beside what they make of the row.
func.func @moments(%x: tensor<?x100xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?x100xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x100xf32>
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 100.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<?x100xf32>) outs(%z : tensor<?xf32>) dimensions = [1]
  %mean = linalg.map ins(%sum : tensor<?xf32>) outs(%e : tensor<?xf32>) (%a: f32, %o: f32) {
    %b = arith.divf %a, %count : f32
    linalg.yield %b : f32
  }
  %wide = tensor.empty(%n) : tensor<?x100xf32>
  %means = linalg.broadcast ins(%mean : tensor<?xf32>) outs(%wide : tensor<?x100xf32>) dimensions = [1]
  %d = arith.subf %x, %means : tensor<?x100xf32>
  %s = arith.mulf %d, %d : tensor<?x100xf32>
  %squares = linalg.reduce { arith.addf } ins(%s : tensor<?x100xf32>) outs(%z : tensor<?xf32>) dimensions = [1]
  %variance = linalg.map ins(%squares : tensor<?xf32>) outs(%e : tensor<?xf32>) (%a: f32, %o: f32) {
    %b = arith.divf %a, %count : f32
    linalg.yield %b : f32
  }
  return %mean, %variance, %d : tensor<?xf32>, tensor<?xf32>, tensor<?x100xf32>
}

// Rows of unknown length, also shorter than a warp, whose largest number is taken twice.
func.func @softmax(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = linalg.softmax dimension(1) ins(%0 : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// A norm of one row, with a residual, twice.
func.func @one_row(%x: tensor<1x1000xf16>, %r: tensor<1x1000xf16>, %g: tensor<1000xf16>) -> (tensor<1x1000xf16>, tensor<1x1000xf16>) {
  %0 = arith.addf %x, %r : tensor<1x1000xf16>
  %1 = attn.rms_norm %0, %g eps 1.0e-5 : tensor<1x1000xf16>, tensor<1000xf16>
  %2 = attn.rms_norm %1, %g eps 1.0e-5 : tensor<1x1000xf16>, tensor<1000xf16>
  return %2, %0 : tensor<1x1000xf16>, tensor<1x1000xf16>
}

// Maxima and minima of 16 bits, one number of all, and a sum of integers.
func.func @types(%x: tensor<?x64xbf16>, %y: tensor<?x33xi32>) -> (tensor<?xbf16>, tensor<?xbf16>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %low = arith.constant 0xFF80 : bf16
  %high = arith.constant 0x7F80 : bf16
  %none = arith.constant 0 : i32
  %e = tensor.empty(%n) : tensor<?xbf16>
  %i = tensor.empty(%n) : tensor<?xi32>
  %0 = linalg.fill ins(%low : bf16) outs(%e : tensor<?xbf16>) -> tensor<?xbf16>
  %1 = linalg.fill ins(%high : bf16) outs(%e : tensor<?xbf16>) -> tensor<?xbf16>
  %2 = linalg.fill ins(%none : i32) outs(%i : tensor<?xi32>) -> tensor<?xi32>
  %largest = linalg.reduce { arith.maximumf } ins(%x : tensor<?x64xbf16>) outs(%0 : tensor<?xbf16>) dimensions = [1]
  %smallest = linalg.reduce { arith.minimumf } ins(%x : tensor<?x64xbf16>) outs(%1 : tensor<?xbf16>) dimensions = [1]
  %sums = linalg.reduce { arith.addi } ins(%y : tensor<?x33xi32>) outs(%2 : tensor<?xi32>) dimensions = [1]
  %numbers = arith.sitofp %sums : tensor<?xi32> to tensor<?xf32>
  return %largest, %smallest, %numbers : tensor<?xbf16>, tensor<?xbf16>, tensor<?xf32>
}

func.func @all(%x: tensor<?x40xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<?x40xf32>) outs(%z : tensor<f32>) dimensions = [0, 1]
  return %0 : tensor<f32>
}

// Batch 1, heads, and a sum along the middle, which no threads share.
func.func @middle(%x: tensor<1x?x70xf32>) -> (tensor<1x70xf32>, tensor<1x?x70xf32>) {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<1x?x70xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x70xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x70xf32>) -> tensor<1x70xf32>
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<1x?x70xf32>) outs(%z : tensor<1x70xf32>) dimensions = [1]
  %w = tensor.empty(%n) : tensor<1x?x70xf32>
  %1 = linalg.softmax dimension(2) ins(%x : tensor<1x?x70xf32>) outs(%w : tensor<1x?x70xf32>) -> tensor<1x?x70xf32>
  return %0, %1 : tensor<1x70xf32>, tensor<1x?x70xf32>
}

// Long rows that are only elementwise, with two results.
func.func @long_rows(%x: tensor<?x1000xf16>, %y: tensor<?x1000xf16>, %z: tensor<2x1024xf32>) -> (tensor<?x1000xf16>, tensor<?x1000xf16>, tensor<2x1024xf32>) {
  %0 = arith.addf %x, %y : tensor<?x1000xf16>
  %1 = arith.mulf %0, %y : tensor<?x1000xf16>
  %2 = math.absf %z : tensor<2x1024xf32>
  return %1, %0, %2 : tensor<?x1000xf16>, tensor<?x1000xf16>, tensor<2x1024xf32>
}
