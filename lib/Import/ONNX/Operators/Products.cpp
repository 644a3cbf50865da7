// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products.
//
// A product with one matrix for the whole batch is an attn.project, or between
// two matrices that are computed a linalg.matmul. All others have their leading
// sizes joined to one and are a linalg.batch_matmul. Sums of one product are
// arithmetic. Sums are taken in f32 for 16-bit elements, and rounded once.
#include "Products.h"
#include "OperatorTable.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace attn::onnx;

Type attn::onnx::sumType(Type element) {
  return element.getIntOrFloatBitWidth() == 16
             ? Float32Type::get(element.getContext())
             : element;
}

Tensor attn::onnx::project(TensorBuilder &t, Tensor &x, Tensor &w,
                           Tensor *bias) {
  Shape shape = x.shape;
  shape.back() = w.shape[1];
  Value y =
      attn::ProjectOp::create(t.b, t.loc, t.type(shape, x.element), t.value(x),
                              t.value(w), bias ? t.value(*bias) : Value());
  return {x.element, shape, y, {}, {}};
}

/// [M, K] by [K, N], or [B, M, K] by [B, K, N], in the type of sums.
template <typename Op>
static Tensor sumOfProducts(TensorBuilder &t, Tensor &a, Tensor &b) {
  Shape shape(a.shape.begin(), a.shape.end() - 1);
  shape.push_back(b.shape.back());
  Type sums = sumType(a.element);
  Value zero = arith::ConstantOp::create(t.b, t.loc, t.number(sums, 0));
  Value filled = linalg::FillOp::create(t.b, t.loc, zero, t.empty(shape, sums))
                     .getResult(0);
  Value left = t.value(a), right = t.value(b);
  Value sum = Op::create(t.b, t.loc, TypeRange(filled.getType()),
                         ValueRange{left, right}, ValueRange(filled))
                  .getResult(0);
  return {sums, shape, sum, {}, {}};
}

/// Columns by rows, [.., M, 1] by [.., 1, N], as frequencies by positions: no
/// sums. Of two that are computed it may be a head of one feature.
static std::optional<Tensor> outerProduct(TensorBuilder &t, Tensor &a,
                                          Tensor &b) {
  std::optional<Shape> shape = broadcastShape(a.shape, b.shape);
  if (!shape)
    return std::nullopt;
  Value left = t.broadcast(a, *shape), right = t.broadcast(b, *shape);
  return t.elementwise<arith::MulFOp>({left, right}, *shape);
}

std::optional<Tensor> attn::onnx::matmul(TensorBuilder &t, Tensor &a,
                                         Tensor &b) {
  std::optional<Tensor> y = unroundedMatmul(t, a, b);
  return y ? std::optional(t.cast(*y, a.element)) : y;
}

std::optional<Tensor> attn::onnx::unroundedMatmul(TensorBuilder &t, Tensor &a,
                                                  Tensor &b) {
  bool isConstant = a.constant || b.constant;
  if (isConstant && a.shape.back().is(1) && b.shape[b.rank() - 2].is(1))
    return outerProduct(t, a, b);
  // Two matrices that are computed may be queries and keys.
  if (a.rank() == 2 && b.rank() == 2 && !a.constant && !b.constant)
    return sumOfProducts<linalg::MatmulOp>(t, a, b);
  if (b.rank() == 2 && (a.rank() == 2 || a.rank() == 3))
    return project(t, a, b, nullptr);
  ArrayRef<Size> left = a.shape, right = b.shape;
  if (b.rank() == 2) { // all leading sizes are rows
    Shape rows = {product(left.drop_back()), left.back()};
    std::optional<Tensor> flat = t.reshaped(a, rows);
    if (!flat)
      return std::nullopt;
    Tensor y = project(t, *flat, b, nullptr);
    Shape shape(left.drop_back());
    shape.push_back(right.back());
    return t.reshaped(y, shape);
  }
  std::optional<Shape> batch =
      broadcastShape(left.drop_back(2), right.drop_back(2));
  if (!batch)
    return std::nullopt;
  auto joined = [&](Tensor &x) -> std::optional<Tensor> {
    Shape whole = *batch, flat = {product(*batch)};
    for (const Size &size : ArrayRef(x.shape).take_back(2))
      whole.push_back(size), flat.push_back(size);
    Tensor all{x.element, whole, t.broadcast(x, whole), {}, {}};
    return t.reshaped(all, flat);
  };
  std::optional<Tensor> flatA = joined(a), flatB = joined(b);
  if (!flatA || !flatB)
    return std::nullopt;
  Tensor y = sumOfProducts<linalg::BatchMatmulOp>(t, *flatA, *flatB);
  Shape shape = *batch;
  shape.push_back(left[left.size() - 2]);
  shape.push_back(right.back());
  return t.reshaped(y, shape);
}

/// `x` times a number, where it is not 1.
static Tensor scaled(TensorBuilder &t, Tensor x, double factor) {
  if (factor == 1)
    return x;
  Tensor all = t.splat(x.shape, x.element, factor);
  Value product =
      t.b.createOrFold<arith::MulFOp>(t.loc, t.value(x), t.value(all));
  return t.made(product, x.shape);
}

/// factor * a * b, by NumPy's rules.
static LogicalResult multiply(Node &node, Tensor a, Tensor b, double factor) {
  TensorBuilder &t = node.build();
  auto misfit = [&] {
    return node.fail("expects matrices that fit each other, but got " +
                     describe(node.input(0)) + " and " +
                     describe(node.input(1)));
  };
  if (failed(node.expectFloats(0)) || failed(node.expectFloats(1)))
    return failure();
  if (a.element != b.element || a.rank() < 1 || b.rank() < 1)
    return misfit();
  bool isRow = a.rank() == 1, isColumn = b.rank() == 1;
  if (isRow)
    a = *t.reshaped(a, {1, a.shape[0]});
  if (isColumn)
    b = *t.reshaped(b, {b.shape[0], 1});
  const Size &inner = a.shape.back(), &outer = b.shape[b.rank() - 2];
  if (inner.constant() && outer.constant() && inner != outer)
    return misfit();
  std::optional<Tensor> y = matmul(t, a, b);
  if (!y)
    return misfit();
  Shape shape = y->shape;
  if (isColumn)
    shape.pop_back();
  if (isRow)
    shape.erase(shape.end() - (isColumn ? 1 : 2));
  std::optional<Tensor> result = t.reshaped(*y, shape);
  return result ? node.give(scaled(t, *result, factor)) : misfit();
}

static LogicalResult importMatMul(Node &node) {
  return multiply(node, node.input(0), node.input(1), 1);
}

/// `x` with its first dimension behind those of batches, and then the last two
/// exchanged; vectors stay.
static Tensor turned(TensorBuilder &t, Tensor x, bool batch, bool last) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  if (batch && x.rank() > 2)
    std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (last && x.rank() > 1)
    std::swap(order.back(), order[x.rank() - 2]);
  return llvm::is_sorted(order) ? x : t.transpose(x, order);
}

/// alpha * A' * B'.
static LogicalResult importFusedMatMul(Node &node) {
  auto operand = [&](unsigned i, StringRef side) {
    return turned(node.build(), node.input(i),
                  node.getInt(("transBatch" + side).str(), 0),
                  node.getInt(("trans" + side).str(), 0));
  };
  return multiply(node, operand(0, "A"), operand(1, "B"),
                  node.getFloat("alpha", 1));
}

/// alpha * A' * B' + beta * C.
static LogicalResult importGemm(Node &node) {
  TensorBuilder &t = node.build();
  Tensor a = node.input(0), b = node.input(1);
  if (failed(node.expectFloats(0)) || a.element != b.element || a.rank() != 2 ||
      b.rank() != 2)
    return node.fail(
        "expects two matrices of floating-point numbers, but got " +
        describe(a) + " and " + describe(b));
  if (node.getInt("transA", 0))
    a = t.transpose(a, {1, 0});
  if (node.getInt("transB", 0))
    b = t.transpose(b, {1, 0});
  if (a.shape[1].constant() && b.shape[0].constant() &&
      a.shape[1] != b.shape[0])
    return node.fail("expects matrices that fit each other, but got " +
                     describe(node.input(0)) + " and " +
                     describe(node.input(1)));
  double alpha = node.getFloat("alpha", 1), beta = node.getFloat("beta", 1);
  Tensor *c = node.optionalInput(2);
  Shape shape = {a.shape[0], b.shape[1]};
  std::optional<Shape> both = c ? broadcastShape(shape, c->shape) : shape;
  if (c && (!both || !ArrayRef(*both).equals(shape) || c->element != a.element))
    return node.fail("expects C to broadcast to the product, but got " +
                     describe(*c));
  bool isBias =
      c && c->rank() == 1 && c->shape[0] == shape[1] && alpha == 1 && beta == 1;
  if (isBias)
    return node.give(project(t, a, b, c));
  std::optional<Tensor> y = matmul(t, a, b);
  if (!y)
    return node.fail("expects matrices that fit each other");
  Tensor result = scaled(t, *y, alpha);
  if (c) {
    Tensor added = scaled(t, *c, beta);
    Value sum = t.b.createOrFold<arith::AddFOp>(
        t.loc, t.value(result), t.broadcast(added, result.shape));
    result = t.made(sum, result.shape);
  }
  return node.give(result);
}

ArrayRef<Operator> attn::onnx::productOperators() {
  static const Operator all[] = {
      {"", "MatMul", importMatMul, 2, 2},
      {"", "Gemm", importGemm, 2, 3},
      {"com.microsoft", "FusedMatMul", importFusedMatMul, 2, 2},
  };
  return all;
}
