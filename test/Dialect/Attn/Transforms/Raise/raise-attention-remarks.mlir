// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stays linalg, and why. A softmax that no product reads is no attention.
// RUN: attn-opt %s --attn-raise-attention --split-input-file --verify-diagnostics --remarks-filter-missed=attn-raise-attention --remarks-filter-passed=attn-raise-attention --remark-policy=all

func.func @no_scores(%s: tensor<9x9xf32>, %v: tensor<9x8xf32>) -> tensor<9x8xf32> {
  %e = tensor.empty() : tensor<9x9xf32>
  // expected-remark @below {{not read as attention: its scores come from no product of queries and keys}}
  %w = linalg.softmax dimension(1) ins(%s : tensor<9x9xf32>) outs(%e : tensor<9x9xf32>) -> tensor<9x9xf32>
  %zo = arith.constant dense<0.0> : tensor<9x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<9x9xf32>, tensor<9x8xf32>) outs(%zo : tensor<9x8xf32>) -> tensor<9x8xf32>
  return %o : tensor<9x8xf32>
}

// -----

func.func @weights_changed(%q: tensor<9x16xf32>, %k: tensor<16x9xf32>, %v: tensor<9x8xf32>) -> tensor<9x8xf32> {
  %z = arith.constant dense<0.0> : tensor<9x9xf32>
  %s = linalg.matmul ins(%q, %k : tensor<9x16xf32>, tensor<16x9xf32>) outs(%z : tensor<9x9xf32>) -> tensor<9x9xf32>
  %e = tensor.empty() : tensor<9x9xf32>
  // expected-remark @below {{not read as attention: no product with values reads its weights, but 'math.sqrt'}}
  %w = linalg.softmax dimension(1) ins(%s : tensor<9x9xf32>) outs(%e : tensor<9x9xf32>) -> tensor<9x9xf32>
  %r = math.sqrt %w : tensor<9x9xf32>
  %zo = arith.constant dense<0.0> : tensor<9x8xf32>
  %o = linalg.matmul ins(%r, %v : tensor<9x9xf32>, tensor<9x8xf32>) outs(%zo : tensor<9x8xf32>) -> tensor<9x8xf32>
  return %o : tensor<9x8xf32>
}

// -----

func.func @no_code(%q: tensor<9x16xf32>, %k: tensor<16x9xf32>, %v: tensor<9x8xf32>) -> tensor<9x8xf32> {
  %z = arith.constant dense<0.0> : tensor<9x9xf32>
  %s = linalg.matmul ins(%q, %k : tensor<9x16xf32>, tensor<16x9xf32>) outs(%z : tensor<9x9xf32>) -> tensor<9x9xf32>
  %t = math.cbrt %s : tensor<9x9xf32>
  %e = tensor.empty() : tensor<9x9xf32>
  // expected-remark @below {{not read as attention: its scores cannot be read as a function: kernels have no code for its 'math.cbrt'}}
  %w = linalg.softmax dimension(1) ins(%t : tensor<9x9xf32>) outs(%e : tensor<9x9xf32>) -> tensor<9x9xf32>
  %zo = arith.constant dense<0.0> : tensor<9x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<9x9xf32>, tensor<9x8xf32>) outs(%zo : tensor<9x8xf32>) -> tensor<9x8xf32>
  return %o : tensor<9x8xf32>
}

// -----

func.func @division(%q: tensor<9x16xf32>, %k: tensor<16x9xf32>, %v: tensor<9x8xf32>, %a: tensor<9x9xi32>, %b: tensor<9x9xi32>) -> tensor<9x8xf32> {
  %z = arith.constant dense<0.0> : tensor<9x9xf32>
  %s = linalg.matmul ins(%q, %k : tensor<9x16xf32>, tensor<16x9xf32>) outs(%z : tensor<9x9xf32>) -> tensor<9x9xf32>
  %d = arith.divsi %a, %b : tensor<9x9xi32>
  %f = arith.sitofp %d : tensor<9x9xi32> to tensor<9x9xf32>
  %t = arith.addf %s, %f : tensor<9x9xf32>
  %e = tensor.empty() : tensor<9x9xf32>
  // expected-remark @below {{not read as attention: its scores cannot be read as a function: kernels have no code for its 'arith.divsi'}}
  %w = linalg.softmax dimension(1) ins(%t : tensor<9x9xf32>) outs(%e : tensor<9x9xf32>) -> tensor<9x9xf32>
  %zo = arith.constant dense<0.0> : tensor<9x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<9x9xf32>, tensor<9x8xf32>) outs(%zo : tensor<9x8xf32>) -> tensor<9x8xf32>
  return %o : tensor<9x8xf32>
}

// -----

func.func @features(%q: tensor<9x?xf32>, %k: tensor<?x9xf32>, %v: tensor<9x8xf32>) -> tensor<9x8xf32> {
  %z = arith.constant dense<0.0> : tensor<9x9xf32>
  %s = linalg.matmul ins(%q, %k : tensor<9x?xf32>, tensor<?x9xf32>) outs(%z : tensor<9x9xf32>) -> tensor<9x9xf32>
  %e = tensor.empty() : tensor<9x9xf32>
  // expected-remark @below {{not read as attention: its heads have an unknown number of features, or more than 1024}}
  %w = linalg.softmax dimension(1) ins(%s : tensor<9x9xf32>) outs(%e : tensor<9x9xf32>) -> tensor<9x9xf32>
  %zo = arith.constant dense<0.0> : tensor<9x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<9x9xf32>, tensor<9x8xf32>) outs(%zo : tensor<9x8xf32>) -> tensor<9x8xf32>
  return %o : tensor<9x8xf32>
}

// -----

// Heads of unknown number that stand beside a batch of as unknown a number.
#l = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#r = affine_map<(b, h, i, j, d) -> (b, h, d, j)>
#o = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#sums = {indexing_maps = [#l, #r, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}

func.func @heads(%q: tensor<?x?x9x16xf32>, %k: tensor<?x?x16x9xf32>, %v: tensor<?x?x9x8xf32>, %zs: tensor<?x?x9x9xf32>, %m: index, %n: index) -> tensor<?x?x9x8xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%zs : tensor<?x?x9x9xf32>) -> tensor<?x?x9x9xf32>
  %s = linalg.generic #sums ins(%q, %k : tensor<?x?x9x16xf32>, tensor<?x?x16x9xf32>) outs(%z : tensor<?x?x9x9xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %c, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x?x9x9xf32>
  // expected-remark @below {{not read as attention: its number of heads is unknown}}
  %w = linalg.softmax dimension(3) ins(%s : tensor<?x?x9x9xf32>) outs(%zs : tensor<?x?x9x9xf32>) -> tensor<?x?x9x9xf32>
  %eo = tensor.empty(%m, %n) : tensor<?x?x9x8xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x?x9x8xf32>) -> tensor<?x?x9x8xf32>
  %y = linalg.generic #sums ins(%w, %v : tensor<?x?x9x9xf32>, tensor<?x?x9x8xf32>) outs(%zo : tensor<?x?x9x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %c, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x?x9x8xf32>
  return %y : tensor<?x?x9x8xf32>
}

// -----

func.func @no_attention(%q: tensor<9x16xf32>, %k: tensor<16x9xf32>) -> tensor<9x9xf32> {
  %z = arith.constant dense<0.0> : tensor<9x9xf32>
  %s = linalg.matmul ins(%q, %k : tensor<9x16xf32>, tensor<16x9xf32>) outs(%z : tensor<9x9xf32>) -> tensor<9x9xf32>
  %w = linalg.softmax dimension(1) ins(%s : tensor<9x9xf32>) outs(%z : tensor<9x9xf32>) -> tensor<9x9xf32>
  return %w : tensor<9x9xf32>
}

// -----

func.func @lowest(%q: tensor<9x16xf32>, %k: tensor<16x9xf32>, %v: tensor<9x8xf32>, %seen: tensor<9x9xi1>) -> tensor<9x8xf32> attributes {attn.lowest_excludes} {
  %z = arith.constant dense<0.0> : tensor<9x9xf32>
  %s = linalg.matmul ins(%q, %k : tensor<9x16xf32>, tensor<16x9xf32>) outs(%z : tensor<9x9xf32>) -> tensor<9x9xf32>
  %low = arith.constant dense<-3.40282347E+38> : tensor<9x9xf32>
  %masked = arith.select %seen, %s, %low : tensor<9x9xi1>, tensor<9x9xf32>
  %e = tensor.empty() : tensor<9x9xf32>
  // expected-remark @below {{read as attention}}
  // expected-remark @below {{the lowest finite number is taken for an exclusion: a query that sees no key gives 0 instead of the mean of all values}}
  %w = linalg.softmax dimension(1) ins(%masked : tensor<9x9xf32>) outs(%e : tensor<9x9xf32>) -> tensor<9x9xf32>
  %zo = arith.constant dense<0.0> : tensor<9x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<9x9xf32>, tensor<9x8xf32>) outs(%zo : tensor<9x8xf32>) -> tensor<9x8xf32>
  return %o : tensor<9x8xf32>
}

// -----

// expected-error @below {{expects "attn.lowest_excludes" to have no value, but got 1}}
func.func @value() attributes {attn.lowest_excludes = 1 : i64} {
  return
}

// -----

// Rows of no element: there is nothing to divide.
func.func @no_rows(%x: tensor<0x2x3xf32>) -> tensor<0x2x3xf32> {
  %c = tensor.collapse_shape %x [[0, 1, 2]] : tensor<0x2x3xf32> into tensor<0xf32>
  %r = tensor.expand_shape %c [[0, 1]] output_shape [0, 6] : tensor<0xf32> into tensor<0x6xf32>
  %e = tensor.empty() : tensor<0x6xf32>
  %w = linalg.softmax dimension(1) ins(%r : tensor<0x6xf32>) outs(%e : tensor<0x6xf32>) -> tensor<0x6xf32>
  %d = tensor.collapse_shape %w [[0, 1]] : tensor<0x6xf32> into tensor<0xf32>
  %o = tensor.expand_shape %d [[0, 1, 2]] output_shape [0, 2, 3] : tensor<0xf32> into tensor<0x2x3xf32>
  return %o : tensor<0x2x3xf32>
}

// -----

// The largest score is compared with one that was computed from the same
// product: a kernel that computes it once more may round in another way.
#full = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @own_maximum(%q: tensor<9x8xf32>, %k: tensor<9x8xf32>, %v: tensor<9x8xf32>) -> tensor<9x8xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<9x9xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<9x9xf32>) -> tensor<9x9xf32>
  %s = linalg.matmul indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>]
      ins(%q, %k : tensor<9x8xf32>, tensor<9x8xf32>) outs(%z : tensor<9x9xf32>) -> tensor<9x9xf32>
  %e1 = tensor.empty() : tensor<9xf32>
  %start = linalg.fill ins(%low : f32) outs(%e1 : tensor<9xf32>) -> tensor<9xf32>
  %most = linalg.reduce ins(%s : tensor<9x9xf32>) outs(%start : tensor<9xf32>) dimensions = [1]
    (%in: f32, %m: f32) {
      %b = arith.maximumf %in, %m : f32
      linalg.yield %b : f32
    }
  %hard = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]}
      ins(%s, %most : tensor<9x9xf32>, tensor<9xf32>) outs(%e : tensor<9x9xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %is = arith.cmpf oge, %a, %m : f32
    %y = arith.select %is, %a, %low : f32
    linalg.yield %y : f32
  } -> tensor<9x9xf32>
  // expected-remark @below {{not read as attention: its scores are compared with what is computed from them}}
  %w = linalg.softmax dimension(1) ins(%hard : tensor<9x9xf32>) outs(%e : tensor<9x9xf32>) -> tensor<9x9xf32>
  %zo = arith.constant dense<0.0> : tensor<9x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<9x9xf32>, tensor<9x8xf32>) outs(%zo : tensor<9x8xf32>) -> tensor<9x8xf32>
  return %o : tensor<9x8xf32>
}

// -----

// The values depend on what the weights are summed to.
func.func @values_later(%q: tensor<9x8xf32>, %k: tensor<9x8xf32>, %x: tensor<9x8xf32>) -> (tensor<9xf32>, tensor<9x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<9x9xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<9x9xf32>) -> tensor<9x9xf32>
  %s = linalg.matmul indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>]
      ins(%q, %k : tensor<9x8xf32>, tensor<9x8xf32>) outs(%z : tensor<9x9xf32>) -> tensor<9x9xf32>
  // expected-remark @below {{not read as attention: 'linalg.reduce' reads its weights before its values are there}}
  %w = linalg.softmax dimension(1) ins(%s : tensor<9x9xf32>) outs(%e : tensor<9x9xf32>) -> tensor<9x9xf32>
  %e1 = tensor.empty() : tensor<9xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<9xf32>) -> tensor<9xf32>
  %sum = linalg.reduce ins(%w : tensor<9x9xf32>) outs(%z1 : tensor<9xf32>) dimensions = [0]
    (%in: f32, %m: f32) {
      %b = arith.addf %in, %m : f32
      linalg.yield %b : f32
    }
  %e8 = tensor.empty() : tensor<9x8xf32>
  %spread = linalg.broadcast ins(%sum : tensor<9xf32>) outs(%e8 : tensor<9x8xf32>) dimensions = [1]
  %v = arith.mulf %x, %spread : tensor<9x8xf32>
  %zo = arith.constant dense<0.0> : tensor<9x8xf32>
  %o = linalg.matmul ins(%w, %v : tensor<9x9xf32>, tensor<9x8xf32>) outs(%zo : tensor<9x8xf32>) -> tensor<9x8xf32>
  return %sum, %o : tensor<9xf32>, tensor<9x8xf32>
}

// -----

// Zeros behind the softmax where another mask, the same one turned, or its
// opposite holds.
func.func @other_zeros(%q: tensor<9x8xf32>, %k: tensor<9x8xf32>, %v: tensor<9x8xf32>, %m: tensor<9x9xi1>, %n: tensor<9x9xi1>) -> (tensor<9x8xf32>, tensor<9x8xf32>, tensor<9x8xf32>) {
  %z = arith.constant dense<0.0> : tensor<9x9xf32>
  %low = arith.constant dense<0xFF800000> : tensor<9x9xf32>
  %zo = arith.constant dense<0.0> : tensor<9x8xf32>
  %e = tensor.empty() : tensor<9x9xf32>
  %eb = tensor.empty() : tensor<9x9xi1>
  %s = linalg.matmul indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>]
      ins(%q, %k : tensor<9x8xf32>, tensor<9x8xf32>) outs(%z : tensor<9x9xf32>) -> tensor<9x9xf32>
  %masked = arith.select %m, %low, %s : tensor<9x9xi1>, tensor<9x9xf32>
  // expected-remark @below {{not read as attention: no product with values reads its weights, but 'arith.select'}}
  %w = linalg.softmax dimension(1) ins(%masked : tensor<9x9xf32>) outs(%e : tensor<9x9xf32>) -> tensor<9x9xf32>
  %other = arith.select %n, %z, %w : tensor<9x9xi1>, tensor<9x9xf32>
  %o = linalg.matmul ins(%other, %v : tensor<9x9xf32>, tensor<9x8xf32>) outs(%zo : tensor<9x8xf32>) -> tensor<9x8xf32>
  %mt = linalg.transpose ins(%m : tensor<9x9xi1>) outs(%eb : tensor<9x9xi1>) permutation = [1, 0]
  %turned = arith.select %mt, %z, %w : tensor<9x9xi1>, tensor<9x9xf32>
  %t = linalg.matmul ins(%turned, %v : tensor<9x9xf32>, tensor<9x8xf32>) outs(%zo : tensor<9x8xf32>) -> tensor<9x8xf32>
  %opposite = arith.select %m, %w, %z : tensor<9x9xi1>, tensor<9x9xf32>
  %p = linalg.matmul ins(%opposite, %v : tensor<9x9xf32>, tensor<9x8xf32>) outs(%zo : tensor<9x8xf32>) -> tensor<9x8xf32>
  return %o, %t, %p : tensor<9x8xf32>, tensor<9x8xf32>, tensor<9x8xf32>
}

// -----

// Weights that are mixed over the heads, behind scores that are: the product above is no product of queries and keys.
func.func @talking_heads(%s: tensor<9x7x4xf32>, %in: tensor<4x4xf32>, %out: tensor<4x4xf32>, %e: tensor<9x4x7xf32>) -> tensor<9x7x4xf32> {
  %mixed = attn.project %s, %in : (tensor<9x7x4xf32>, tensor<4x4xf32>) -> tensor<9x7x4xf32>
  %first = linalg.transpose ins(%mixed : tensor<9x7x4xf32>) outs(%e : tensor<9x4x7xf32>) permutation = [0, 2, 1]
  // expected-remark @below {{not read as attention: no product with values reads its weights, but 'attn.project'}}
  %w = linalg.softmax dimension(2) ins(%first : tensor<9x4x7xf32>) outs(%e : tensor<9x4x7xf32>) -> tensor<9x4x7xf32>
  %empty = tensor.empty() : tensor<9x7x4xf32>
  %last = linalg.transpose ins(%w : tensor<9x4x7xf32>) outs(%empty : tensor<9x7x4xf32>) permutation = [0, 2, 1]
  %y = attn.project %last, %out : (tensor<9x7x4xf32>, tensor<4x4xf32>) -> tensor<9x7x4xf32>
  return %y : tensor<9x7x4xf32>
}
