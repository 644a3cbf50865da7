// RUN: attn-opt %s --attn-describe-ports --split-input-file --verify-diagnostics | FileCheck %s

// Lengths get a symbol each, named after the first use.
// CHECK-LABEL: func.func @steps
// CHECK-SAME: #attn.port<"q", input [q0, q1, 64] : tensor<?x?x64xf32>>
// CHECK-SAME: #attn.port<"k", input [2, k1, 64] : tensor<2x?x64xf32>>
// CHECK-SAME: #attn.port<"v", input [v0, k1, v2] : tensor<?x?x?xf32>>
// CHECK-SAME: #attn.port<"bias", input [k1] : tensor<?xf32>>
// CHECK-SAME: #attn.port<"out0", output [q0, q1, v2] : tensor<?x?x?xf32>>
func.func @steps(%q: tensor<?x?x64xf32> {attn.name = "q"}, %k: tensor<2x?x64xf32> {attn.name = "k"},
    %v: tensor<?x?x?xf32> {attn.name = "v"}, %bias: tensor<?xf32> {attn.name = "bias"}) -> tensor<?x?x?xf32> {
  %s = attn.scores %q, %k : (tensor<?x?x64xf32>, tensor<2x?x64xf32>) -> tensor<?x?x?xf32>
  %b = attn.bias %s, %bias : tensor<?x?x?xf32>, tensor<?xf32>
  %w = attn.softmax %b : tensor<?x?x?xf32>
  %o = attn.context %w, %v : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %o : tensor<?x?x?xf32>
}

// -----

// A size that one type leaves open and another fixes is fixed; lengths per
// batch entry and tables that broadcast join the scores.
// CHECK-LABEL: func.func @fused
// CHECK-SAME: #attn.port<"arg0", input [arg00, arg01, 8, 64]
// CHECK-SAME: #attn.port<"arg1", input [arg00, 8, arg12, 64]
// CHECK-SAME: #attn.port<"arg2", input [arg00, 8, arg12, 32]
// CHECK-SAME: #attn.port<"arg3", input [arg00]
// CHECK-SAME: #attn.port<"arg4", input [arg00, 1, arg01, arg12]
// CHECK-SAME: #attn.port<"out0", output [arg00, arg01, 8, 32]
// CHECK-SAME: #attn.port<"out1", output [arg00, 8, arg01]
func.func @fused(%q: tensor<?x?x8x64xf32>, %k: tensor<?x8x?x?xf32>, %v: tensor<?x8x?x32xf32>,
    %len: tensor<?xi32>, %allowed: tensor<?x1x?x?xi1>) -> (tensor<?x?x8x32xf32>, tensor<?x8x?xf32>) {
  %o, %lse = attn.sdpa %q, %k, %v scale 0.125 where key_length(%len : tensor<?xi32>) and %allowed : tensor<?x1x?x?xi1>
      returning(out, lse) {query_layout = #attn<layout bshd>, out_layout = #attn<layout bshd>}
      : (tensor<?x?x8x64xf32>, tensor<?x8x?x?xf32>, tensor<?x8x?x32xf32>) -> (tensor<?x?x8x32xf32>, tensor<?x8x?xf32>)
  return %o, %lse : tensor<?x?x8x32xf32>, tensor<?x8x?xf32>
}

// -----

// CHECK-LABEL: func.func @projected
// CHECK-SAME: #attn.port<"arg0", input [arg00, 8]
// CHECK-SAME: #attn.port<"out0", output [2, arg00, 4]
func.func @projected(%x: tensor<?x?xf32>, %w: tensor<8x8xf32>) -> tensor<2x?x4xf32> {
  %y = attn.project %x, %w : (tensor<?x?xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %z = arith.negf %y : tensor<?x8xf32>
  %h = attn.split_heads %z into 2 : tensor<?x8xf32> -> tensor<2x?x4xf32>
  return %h : tensor<2x?x4xf32>
}

// -----

// Sizes that are computed: rows without the last, every second one, rows of all
// batch entries in one, with pads, and blocks of four.
// CHECK-LABEL: func.func @computed
// CHECK-SAME: #attn.port<"out0", output ["x1-1", 8]
// CHECK-SAME: #attn.port<"out1", output ["(x1+1)/2", 8]
// CHECK-SAME: #attn.port<"out2", output ["x0*x1", 8]
// CHECK-SAME: #attn.port<"out3", output ["x0*x1+5", 8]
// CHECK-SAME: #attn.port<"out4", output ["2*x1", 8]
// CHECK-SAME: #attn.port<"out5", output ["x0-y0", 8]
// What finds them leaves nothing behind.
// CHECK:      tensor.collapse_shape
// CHECK-NEXT: tensor.pad
func.func @computed(%x: tensor<?x?x8xf32> {attn.name = "x"}, %y: tensor<?x8xf32> {attn.name = "y"})
    -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %m = tensor.dim %y, %c0 : tensor<?x8xf32>
  %less = arith.subi %n, %c1 : index
  %first = tensor.extract_slice %x[0, 0, 0] [1, %less, 8] [1, 1, 1] : tensor<?x?x8xf32> to tensor<?x8xf32>
  %more = arith.addi %n, %c1 : index
  %half = arith.divui %more, %c2 : index
  %second = tensor.extract_slice %x[0, 0, 0] [1, %half, 8] [1, 2, 1] : tensor<?x?x8xf32> to tensor<?x8xf32>
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x8xf32> into tensor<?x8xf32>
  %padded = tensor.pad %rows low[3, 0] high[2, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x8xf32> to tensor<?x8xf32>
  %one = tensor.extract_slice %x[0, 0, 0] [1, %n, 8] [1, 1, 1] : tensor<?x?x8xf32> to tensor<?x8xf32>
  %twice = tensor.concat dim(0) %one, %one : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %difference = arith.subi %b, %m : index
  %rest = tensor.extract_slice %x[%m, 0, 0] [%difference, 1, 8] [1, 1, 1] : tensor<?x?x8xf32> to tensor<?x8xf32>
  return %first, %second, %rows, %padded, %twice, %rest
      : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// A quotient of a number that may be below 0 is rounded otherwise than ours.
func.func @truncated(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %less = arith.subi %n, %c1 : index
  %half = arith.divsi %less, %c2 : index
  %first = tensor.extract_slice %x[0] [%half] [1] : tensor<?xf32> to tensor<?xf32>
  // expected-error @+1 {{result 'out0' of type 'tensor<?xf32>' has a size that no argument tells}}
  return %first : tensor<?xf32>
}

// -----

func.func @unknown(%x: tensor<?xf32>, %n: tensor<2xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %f = tensor.extract %n[%c0] : tensor<2xf32>
  %i = arith.fptosi %f : f32 to i64
  %c3 = arith.index_cast %i : i64 to index
  %e = tensor.empty(%c3) : tensor<?xf32>
  // expected-error @+1 {{result 'out0' of type 'tensor<?xf32>' has a size that no argument tells}}
  return %e : tensor<?xf32>
}

// -----

// expected-error @+1 {{expects argument 'arg0' to be a ranked tensor, but got 'f32'}}
func.func @scalar(%x: f32, %y: tensor<2xf32>) -> tensor<2xf32> {
  return %y : tensor<2xf32>
}

// -----

// expected-error @+1 {{expects argument 'arg0' to have at most 6 dimensions, but got}}
func.func @rank(%x: tensor<1x1x1x1x1x1x1xf32>) -> tensor<1x1x1x1x1x1x1xf32> {
  return %x : tensor<1x1x1x1x1x1x1xf32>
}

// -----

// expected-error @+1 {{expects a public function whose name C can call, but got 'a-b', which is no C identifier; choose another name}}
func.func @"a-b"(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

// expected-error @+1 {{but got 'malloc', which is a name of the C library, the linker or the runtime}}
func.func @malloc(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  return %x : tensor<2x4xf32>
}

// -----

// The library's own gai_strerror would be replaced.
// expected-error @+1 {{but got 'gai', which is the beginning of 'gai_strerror', a function of the C library}}
func.func @gai(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  return %x : tensor<2x4xf32>
}

// -----

// expected-error @+1 {{expects no other 'a_info' in the module, because a C function of 'a' is called so}}
func.func @a(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  return %x : tensor<2x4xf32>
}
func.func @a_info(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  return %x : tensor<2x4xf32>
}

// -----

func.func @a_args(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  return %x : tensor<2x4xf32>
}
// expected-error @+1 {{expects no other 'a_args' in the module, because the argument struct of 'a' is called so}}
func.func @a(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  return %x : tensor<2x4xf32>
}

// -----

// Private functions have C names, too, which only the linker must not confuse.
func.func private @a_args(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  return %x : tensor<2x4xf32>
}
func.func private @int(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  return %x : tensor<2x4xf32>
}
func.func @a(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  return %x : tensor<2x4xf32>
}
// expected-error @+1 {{expects a function whose name is its own, but got 'memcpy', a name of the C library, the linker or the runtime}}
func.func private @memcpy(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  return %x : tensor<2x4xf32>
}

// -----

// expected-error @+1 {{expects no name that begins with 'f.', because the parts of 'f' are called so, but got 'f.kernel'}}
func.func private @f.kernel(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

// expected-error @+1 {{expects a name for an argument that a member of a C struct can have, but got 'int', which is a keyword of C or C++; choose another name}}
func.func @keyword(%x: tensor<2xf32> {attn.name = "int"}) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

// expected-error @+1 {{but got 'a b', which is no C identifier}}
func.func @blank(%x: tensor<2xf32> {attn.name = "a b"}) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

// expected-error @+1 {{expects a name for a result that a member of a C struct can have, but got '', which is no C identifier}}
func.func @empty(%x: tensor<2xf32>) -> (tensor<2xf32> {attn.name = ""}) {
  return %x : tensor<2xf32>
}

// -----

// expected-error @+1 {{but got 'threads', which is a member that every argument struct has}}
func.func @member(%x: tensor<2xf32> {attn.name = "threads"}) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

// expected-error @+1 {{expects arguments and results of different names, but got 'x' twice}}
func.func @twice(%x: tensor<2xf32> {attn.name = "x"}) -> (tensor<2xf32> {attn.name = "x"}) {
  return %x : tensor<2xf32>
}

// -----

// expected-error @+1 {{expects attn.name to be a string, but got 3 : i64}}
func.func @number(%x: tensor<2xf32> {attn.name = 3}) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
