// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of the graph ops around an attention, in terms of graph ops and
// loops of linalg.
//
//   y = x W + b          dx = dy W^T, dW = x^T dy, db = sum over rows of dy
//   heads                split and merge are each other's
//   y = c x              dx = c dy
//   y = rope(x)          dx = the rotation back, rope with -sin; of a pair
//                        (x, y) turned by cos and sin of position p
//                        dcos[p] = sum (gx x + gy y), dsin[p] = sum (gy x - gx
//                        y)
//   y = n w, n = x r, r = (mean x^2 + eps)^-1/2
//                        dx = r (dy w - n mean(dy w n)),
//                        dw = sum over rows of dy n
//   y = n w + b, n = (x - mean x) r, r = (variance x + eps)^-1/2
//                        dx = r (dy w - mean(dy w) - n mean(dy w n)),
//                        dw = sum over rows of dy n, db = sum over rows of dy
// Of one feature dx is eps r^3 dy w, of two that are centred
// eps r^3 (dy w - mean(dy w)).
#include "Adjoints.h"
#include "Loop.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

static RankedTensorType typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

/// The sizes of the leading dimensions multiplied: (rows x columns).
static Value asMatrix(OpBuilder &b, Value tensor) {
  int64_t rank = typeOf(tensor).getRank();
  if (rank == 2)
    return tensor;
  ReassociationIndices rows;
  for (int64_t i = 0; i + 1 < rank; ++i)
    rows.push_back(i);
  SmallVector<ReassociationIndices> groups{rows, {rank - 1}};
  return tensor::CollapseShapeOp::create(b, tensor.getLoc(), tensor, groups);
}

/// The last two dimensions change places.
static Value swappedColumns(OpBuilder &b, Value tensor) {
  Location loc = tensor.getLoc();
  int64_t rank = typeOf(tensor).getRank();
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(permutation[rank - 2], permutation[rank - 1]);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, tensor);
  std::swap(sizes[rank - 2], sizes[rank - 1]);
  Value empty =
      tensor::EmptyOp::create(b, loc, sizes, typeOf(tensor).getElementType());
  return linalg::TransposeOp::create(b, loc, tensor, empty, permutation)
      .getResult()[0];
}

/// The gradient of a weight: a product of all rows.
static Value ofWeight(OpBuilder &b, ProjectOp op, Value dy) {
  Value x = op.getInput();
  if (!op.hasWeights()) {
    x = asMatrix(b, x);
    dy = asMatrix(b, dy);
  }
  Value left = op.getTransposed() ? dy : x, right = op.getTransposed() ? x : dy;
  Value turned = swappedColumns(b, left);
  return ProjectOp::create(b, op.getLoc(), op.getWeight().getType(), turned,
                           right, /*bias=*/Value());
}

static LogicalResult follow(Adjoints &adjoints, ProjectOp op, Value dy) {
  OpBuilder &b = adjoints.builder;
  Location loc = op.getLoc();
  if (adjoints.isActive(op.getInput())) {
    auto dx =
        ProjectOp::create(b, loc, op.getInput().getType(), dy, op.getWeight(),
                          /*bias=*/Value());
    dx.setTransposed(!op.getTransposed());
    adjoints.add(op.getInput(), dx);
  }
  if (adjoints.isActive(op.getWeight()))
    adjoints.add(op.getWeight(), ofWeight(b, op, dy));
  if (op.getBias() && adjoints.isActive(op.getBias()))
    adjoints.add(op.getBias(),
                 Loop(b, dy).elements(dy).sumOfColumns(
                     [](OpBuilder &, ValueRange a) -> Value { return a[0]; }));
  return success();
}

/// Feature `second` of all pairs that a rotation turns, of its input or result.
static Value ofPairs(OpBuilder &b, RopeOp op, Value rows, bool second) {
  Location loc = op.getLoc();
  int64_t last = typeOf(rows).getRank() - 1;
  int64_t pairs = typeOf(op.getCos()).getDimSize(1);
  SmallVector<OpFoldResult> offsets(last + 1, b.getIndexAttr(0)),
      strides(last + 1, b.getIndexAttr(1)),
      sizes = tensor::getMixedSizes(b, loc, rows);
  sizes[last] = b.getIndexAttr(pairs);
  bool apart = op.getInterleaved();
  strides[last] = b.getIndexAttr(apart ? 2 : 1);
  offsets[last] = b.getIndexAttr(second ? (apart ? 1 : pairs) : 0);
  return tensor::ExtractSliceOp::create(b, loc, rows, offsets, sizes, strides);
}

/// Adds each row of `terms` to the row of `table` that its position reads.
static Value addAtPositions(OpBuilder &b, RopeOp op, Value table, Value terms) {
  Location loc = op.getLoc();
  unsigned last = typeOf(terms).getRank(); // of the loops, in front the table's
  auto mapTo = [&](unsigned from, unsigned to) {
    SmallVector<AffineExpr> dims;
    for (unsigned i = from; i < to; ++i)
      dims.push_back(b.getAffineDimExpr(i));
    return AffineMap::get(last + 1, 0, dims, b.getContext());
  };
  SmallVector<Value> inputs{terms};
  SmallVector<AffineMap> maps{mapTo(1, last + 1)};
  if (Value positions = op.getPositions()) {
    inputs.push_back(positions);
    maps.push_back(mapTo(1, last));
  }
  maps.push_back(AffineMap::get(
      last + 1, 0, {b.getAffineDimExpr(0), b.getAffineDimExpr(last)},
      b.getContext()));
  SmallVector<utils::IteratorType> kinds(last + 1,
                                         utils::IteratorType::reduction);
  kinds.front() = kinds.back() = utils::IteratorType::parallel;
  Type element = typeOf(terms).getElementType();
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  Value empty = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, table), element);
  Value zeros = linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  Value rows = tensor::DimOp::create(b, loc, table, 0);
  return linalg::GenericOp::create(
             b, loc, zeros.getType(), inputs, zeros, maps, kinds,
             [&](OpBuilder &inner, Location, ValueRange a) {
               auto index = [&](int64_t value) -> Value {
                 return arith::ConstantIndexOp::create(inner, loc, value);
               };
               Value at = linalg::IndexOp::create(inner, loc, last - 1);
               if (op.getPositions())
                 at = arith::IndexCastOp::create(inner, loc,
                                                 inner.getIndexType(), a[1]);
               Value end = arith::SubIOp::create(inner, loc, rows, index(1));
               at = arith::MinSIOp::create(inner, loc, at, end);
               at = arith::MaxSIOp::create(inner, loc, at, index(0));
               Value row = linalg::IndexOp::create(inner, loc, 0);
               Value own = arith::CmpIOp::create(
                   inner, loc, arith::CmpIPredicate::eq, at, row);
               Value sum =
                   arith::AddFOp::create(inner, loc, a.back(), a.front());
               Value next =
                   arith::SelectOp::create(inner, loc, own, sum, a.back());
               linalg::YieldOp::create(inner, loc, next);
             })
      .getResult(0);
}

static LogicalResult follow(Adjoints &adjoints, RopeOp op, Value dy) {
  OpBuilder &b = adjoints.builder;
  Location loc = op.getLoc();
  Value back = arith::NegFOp::create(b, loc, op.getSin());
  adjoints.add(op.getInput(),
               RopeOp::create(b, loc, op.getType(), dy, op.getCos(), back,
                              op.getPositions(), op.getInterleaved()));
  if (!adjoints.isActive(op.getCos()) && !adjoints.isActive(op.getSin()))
    return success();
  int64_t rank = typeOf(dy).getRank();
  SmallVector<int64_t> kept{rank - 2, rank - 1};
  Value positions = op.getPositions();
  if (positions && typeOf(positions).getRank() == 2)
    kept.insert(kept.begin(), 0);
  Value x = ofPairs(b, op, op.getInput(), false),
        y = ofPairs(b, op, op.getInput(), true), gx = ofPairs(b, op, dy, false),
        gy = ofPairs(b, op, dy, true);
  auto follows = [&](Value table, bool isSin) {
    if (!adjoints.isActive(table))
      return;
    Loop loop(b, x);
    loop.elements(x).elements(y).elements(gx).elements(gy);
    Value terms =
        loop.sumAt(kept, [&](OpBuilder &inner, ValueRange a) -> Value {
          Scalars s{inner, loc};
          return isSin ? s.sub(s.mul(a[3], a[0]), s.mul(a[2], a[1]))
                       : s.add(s.mul(a[2], a[0]), s.mul(a[3], a[1]));
        });
    adjoints.add(table, addAtPositions(b, op, table, terms));
  };
  follows(op.getCos(), false);
  follows(op.getSin(), true);
  return success();
}

namespace {
/// A norm's rows: x, dy and, per row, the sum of squares and where rows are
/// centred the sum. In the body of a loop `a` holds what `loop` reads.
struct NormRows {
  OpBuilder &b;
  Location loc;
  Value x, dy, weight, sum, squares;
  double features, eps;

  Loop loop() {
    Loop rows(b, x);
    rows.elements(x).elements(dy).rows(squares);
    if (sum)
      rows.rows(sum);
    if (weight)
      rows.columns(weight);
    return rows;
  }
  /// Whether g without its mean is a multiple of n, as of one feature and of
  /// two that are centred. In dx they cancel but for eps r^2 of g, which is
  /// 1e-5 of a usual row: the difference would have no digits left in f32.
  bool isLine() const { return features == (sum ? 2 : 1); }
  /// How many values `loop` reads.
  unsigned count() const { return 3 + (sum ? 1 : 0) + (weight ? 1 : 0); }

  Value mean(Scalars s, Value total) {
    return s.mul(total, s.number(1 / features, total));
  }
  Value inverse(Scalars s, ValueRange a) {
    Value shifted = s.add(mean(s, a[2]), s.number(eps, a[2]));
    return math::RsqrtOp::create(s.b, loc, shifted);
  }
  /// The element with mean 0, if rows are centred, and variance 1.
  Value normal(Scalars s, ValueRange a) {
    Value centred = sum ? s.sub(a[0], mean(s, a[3])) : a[0];
    return s.mul(centred, inverse(s, a));
  }
  /// The cotangent of that.
  Value cotangent(Scalars s, ValueRange a) {
    return weight ? s.mul(a[1], a[count() - 1]) : a[1];
  }
};
} // namespace

static Value sumOfSquares(OpBuilder &b, Value x, Value sum, double features) {
  Loop loop(b, x);
  loop.elements(x);
  if (sum)
    loop.rows(sum);
  return loop.sumOfRows([&](OpBuilder &inner, ValueRange a) -> Value {
    Scalars s{inner, x.getLoc()};
    if (!sum)
      return s.mul(a[0], a[0]);
    Value centred = s.sub(a[0], s.mul(a[1], s.number(1 / features, a[1])));
    return s.mul(centred, centred);
  });
}

/// dx of the rows.
static Value ofNormInput(NormRows &rows) {
  Location loc = rows.loc;
  Value dots =
      rows.loop().sumOfRows([&](OpBuilder &inner, ValueRange a) -> Value {
        Scalars s{inner, loc};
        return s.mul(rows.cotangent(s, a), rows.normal(s, a));
      });
  Loop loop = rows.loop();
  loop.rows(dots);
  if (rows.sum)
    loop.rows(
        rows.loop().sumOfRows([&](OpBuilder &inner, ValueRange a) -> Value {
          return rows.cotangent(Scalars{inner, loc}, a);
        }));
  unsigned count = rows.count();
  return loop.map(
      typeOf(rows.x).getElementType(),
      [&](OpBuilder &inner, ValueRange a) -> Value {
        Scalars s{inner, loc};
        Value g = rows.cotangent(s, a), r = rows.inverse(s, a);
        if (rows.sum)
          g = s.sub(g, rows.mean(s, a[count + 1]));
        if (rows.isLine())
          return s.mul(s.mul(s.number(rows.eps, g), r), s.mul(s.mul(r, r), g));
        Value along = s.mul(rows.normal(s, a), rows.mean(s, a[count]));
        return s.mul(r, s.sub(g, along));
      });
}

/// `bias` may be null; `centred`: rows have mean 0.
template <typename Op>
static LogicalResult followNorm(Adjoints &adjoints, Op op, Value bias,
                                bool centred, Value dy) {
  OpBuilder &b = adjoints.builder;
  Value x = op.getInput(), w = op.getWeight();
  auto type = typeOf(x);
  if (type.isDynamicDim(type.getRank() - 1))
    return op.emitOpError("has no gradient for rows of unknown length");
  double features = static_cast<double>(type.getShape().back());
  auto itself = [](OpBuilder &, ValueRange a) -> Value { return a[0]; };
  Value sum = centred ? Loop(b, x).elements(x).sumOfRows(itself) : Value();
  NormRows rows{b,
                op.getLoc(),
                x,
                dy,
                w,
                sum,
                sumOfSquares(b, x, sum, features),
                features,
                op.getEps().convertToDouble()};
  if (bias && adjoints.isActive(bias))
    adjoints.add(bias, Loop(b, dy).elements(dy).sumOfColumns(itself));
  if (w && adjoints.isActive(w))
    adjoints.add(w, rows.loop().sumOfColumns(
                        [&](OpBuilder &inner, ValueRange a) -> Value {
                          Scalars s{inner, op.getLoc()};
                          return s.mul(rows.normal(s, a), a[1]);
                        }));
  if (adjoints.isActive(x))
    adjoints.add(x, ofNormInput(rows));
  return success();
}

Ruled attn::followGraphOp(Adjoints &adjoints, Operation *op) {
  if (op->getNumResults() != 1)
    return std::nullopt;
  OpBuilder &b = adjoints.builder;
  Location loc = op->getLoc();
  Value dy = adjoints.of(op->getResult(0));
  if (auto project = dyn_cast<ProjectOp>(op))
    return follow(adjoints, project, dy);
  if (auto rope = dyn_cast<RopeOp>(op))
    return follow(adjoints, rope, dy);
  if (auto norm = dyn_cast<RmsNormOp>(op))
    return followNorm(adjoints, norm, Value(), /*centred=*/false, dy);
  if (auto norm = dyn_cast<LayerNormOp>(op))
    return followNorm(adjoints, norm, norm.getBias(), /*centred=*/true, dy);
  if (auto scale = dyn_cast<ScaleOp>(op))
    adjoints.add(scale.getInput(), ScaleOp::create(b, loc, scale.getType(), dy,
                                                   scale.getFactorAttr()));
  else if (auto split = dyn_cast<SplitHeadsOp>(op))
    adjoints.add(split.getInput(),
                 MergeHeadsOp::create(b, loc, split.getInput().getType(), dy));
  else if (auto merge = dyn_cast<MergeHeadsOp>(op))
    adjoints.add(merge.getInput(),
                 SplitHeadsOp::create(b, loc, merge.getInput().getType(), dy,
                                      merge.getInput().getType().getDimSize(
                                          typeOf(dy).getRank() - 2)));
  else
    return std::nullopt;
  return success();
}
