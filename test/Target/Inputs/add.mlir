// A kernel as the passes before attn-emit-entry leave it: out = a + b, where
// the tensors may have any strides. Its work space is 128 bytes a thread.
func.func private @add.kernel(%a: memref<?x4xf32, strided<[?, ?], offset: ?>>,
    %b: memref<?x4xf32, strided<[?, ?], offset: ?>>,
    %len: memref<i32>,
    %out: memref<?x4xf32, strided<[?, ?], offset: ?>>,
    %workspace: memref<?xi8>, %threads: index, %call: !llvm.ptr)
    attributes {attn.ports = [
      #attn.port<"a", input [a0, 4] : tensor<?x4xf32>>,
      #attn.port<"b", input [a0, 4] : tensor<?x?xf32>>,
      #attn.port<"len", input [] : tensor<i32>>,
      #attn.port<"out", output [a0, 4] : tensor<?x4xf32>>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %rows = memref.dim %a, %c0 : memref<?x4xf32, strided<[?, ?], offset: ?>>
  scf.for %i = %c0 to %rows step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %x = memref.load %a[%i, %j] : memref<?x4xf32, strided<[?, ?], offset: ?>>
      %y = memref.load %b[%i, %j] : memref<?x4xf32, strided<[?, ?], offset: ?>>
      %z = arith.addf %x, %y : f32
      memref.store %z, %out[%i, %j] : memref<?x4xf32, strided<[?, ?], offset: ?>>
    }
  }
  return
}

func.func private @add.workspace(%a: memref<?x4xf32, strided<[?, ?], offset: ?>>,
    %b: memref<?x4xf32, strided<[?, ?], offset: ?>>,
    %len: memref<i32>,
    %out: memref<?x4xf32, strided<[?, ?], offset: ?>>, %threads: index) -> index {
  %c128 = arith.constant 128 : index
  %bytes = arith.muli %threads, %c128 : index
  return %bytes : index
}

func.func private @add.flops(%a: memref<?x4xf32, strided<[?, ?], offset: ?>>,
    %b: memref<?x4xf32, strided<[?, ?], offset: ?>>, %len: memref<i32>) -> f64 {
  %c0 = arith.constant 0 : index
  %four = arith.constant 4.0 : f64
  %rows = memref.dim %a, %c0 : memref<?x4xf32, strided<[?, ?], offset: ?>>
  %i = arith.index_cast %rows : index to i64
  %f = arith.sitofp %i : i64 to f64
  %n = arith.mulf %f, %four : f64
  return %n : f64
}
