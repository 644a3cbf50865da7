// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-lower-prologue: norms and rotations of rows become linalg ops.
//
// Before:  %r = attn.rms_norm %x eps 1.0e-6 : tensor<?x8x?x64xf16>
// After:   %sum = linalg.generic {iterators = [.., "reduction"]}
//            ins(%x) outs(%zero : tensor<?x8x?xf32>) { // adds up squares }
//          %r = linalg.generic {iterators = [.., "parallel"]}
//            ins(%x, %sum) outs(%empty) { // x / sqrt(sum / 64 + eps) }
//
// Before:  %r = attn.rope %q, %cos, %sin : tensor<?x8x?x64xf32>, ..
// After:   %first = tensor.extract_slice %q[0, 0, 0, 0] [.., 32] ..
//          %second = tensor.extract_slice %q[0, 0, 0, 32] [.., 32] ..
//          %x = linalg.generic ins(%first, %second) outs(%empty) {
//            // x * cos - y * sin; rows of the tables are read by
//            // tensor.extract
//          }
//          .. // and y * cos + x * sin, both inserted into a new tensor
//
// attn-vectorize-linalg goes through each row once for all ops of a norm, so
// that a pass over queries and keys of its own costs as much as reading and
// writing them. Variances are sums of squares of what is left without the mean.
// Positions outside of the tables take the nearest row. Numbers of 16 bits are
// widened to f32 when they are read; each result is rounded once, when it is
// written.
//
// An attn.scale that no attention took in, as that of a query with another
// use, becomes a linalg.generic.
//
// Before: attn.rope, attn.rms_norm, attn.layer_norm of rank 2 to 4, attn.scale.
// After: none of them.
#include "SumType.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

namespace attn {
#define GEN_PASS_DEF_LOWERPROLOGUE
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// What the elements of an op's rows are computed from, and with.
class RowBuilder {
public:
  using Body = function_ref<Value(ValueRange elements)>;

  RowBuilder(OpBuilder &b, Operation *op)
      : b(b), loc(op->getLoc()), input(op->getOperand(0)),
        type(cast<RankedTensorType>(input.getType())),
        wide(sumType(type.getElementType())),
        sizes(tensor::getMixedSizes(b, loc, input)) {}

  Value number(double value) {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(wide, value));
  }
  template <typename Op> Value make(Value x, Value y) {
    return Op::create(b, loc, x, y);
  }
  Value widen(Value x) {
    return x.getType() == wide ? x : arith::ExtFOp::create(b, loc, wide, x);
  }
  Value narrow(Value x, Type element) {
    if (x.getType() == element)
      return x;
    return arith::TruncFOp::create(b, loc, element, x);
  }
  Value empty(ArrayRef<OpFoldResult> shape, Type element) {
    return tensor::EmptyOp::create(b, loc, shape, element);
  }
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  Value features();
  Value sumOfRows(ArrayRef<Value> ofRows, Body addend);
  Value mapRows(ArrayRef<Value> ofRows, ArrayRef<Value> ofFeatures, Body body);
  ArrayRef<OpFoldResult> getSizes() const { return sizes; }

  OpBuilder &b;
  Location loc;
  Value input;
  RankedTensorType type;
  FloatType wide;

private:
  AffineMap all() { return b.getMultiDimIdentityMap(type.getRank()); }
  linalg::GenericOp generic(ArrayRef<Value> inputs, Value out,
                            ArrayRef<AffineMap> maps, bool addsUp,
                            function_ref<Value(ValueRange)> body);

  SmallVector<OpFoldResult> sizes;
};
} // namespace

/// The number of features, as what is computed with.
Value RowBuilder::features() {
  if (int64_t known = type.getShape().back(); !ShapedType::isDynamic(known))
    return number(static_cast<double>(known));
  Value size = tensor::DimOp::create(b, loc, input, type.getRank() - 1);
  Value integer = arith::IndexCastOp::create(b, loc, b.getI64Type(), size);
  return arith::SIToFPOp::create(b, loc, wide, integer);
}

linalg::GenericOp RowBuilder::generic(ArrayRef<Value> inputs, Value out,
                                      ArrayRef<AffineMap> maps, bool addsUp,
                                      function_ref<Value(ValueRange)> body) {
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  if (addsUp)
    iterators.back() = utils::IteratorType::reduction;
  OpBuilder::InsertionGuard guard(b);
  return linalg::GenericOp::create(
      b, loc, out.getType(), inputs, out, maps, iterators,
      [&](OpBuilder &inner, Location, ValueRange elements) {
        b.setInsertionPointToEnd(inner.getInsertionBlock());
        SmallVector<Value> values(elements);
        for (Value &value : MutableArrayRef(values).drop_back())
          value = widen(value);
        linalg::YieldOp::create(b, loc, body(values));
      });
}

/// The sum, over the features of a row, of what `addend` makes of a feature and
/// of the numbers that the row has in `ofRows`.
Value RowBuilder::sumOfRows(ArrayRef<Value> ofRows, Body addend) {
  AffineMap rows = all().getMajorSubMap(type.getRank() - 1);
  Value zero = linalg::FillOp::create(b, loc, number(0),
                                      empty(ArrayRef(sizes).drop_back(), wide))
                   .getResult(0);
  SmallVector<Value> inputs{input};
  llvm::append_range(inputs, ofRows);
  SmallVector<AffineMap> maps{all()};
  maps.append(ofRows.size() + 1, rows);
  return generic(inputs, zero, maps, /*addsUp=*/true,
                 [&](ValueRange values) {
                   return make<arith::AddFOp>(values.back(),
                                              addend(values.drop_back()));
                 })
      .getResult(0);
}

/// The tensor of what `body` makes of a feature, of the numbers of its row and
/// of those that all rows share.
Value RowBuilder::mapRows(ArrayRef<Value> ofRows, ArrayRef<Value> ofFeatures,
                          Body body) {
  unsigned last = type.getRank() - 1;
  SmallVector<Value> inputs{input};
  llvm::append_range(inputs, ofRows);
  llvm::append_range(inputs, ofFeatures);
  SmallVector<AffineMap> maps{all()};
  maps.append(ofRows.size(), all().getMajorSubMap(last));
  maps.append(ofFeatures.size(), all().getMinorSubMap(1));
  maps.push_back(all());
  Type element = type.getElementType();
  return generic(inputs, empty(sizes, element), maps, /*addsUp=*/false,
                 [&](ValueRange values) {
                   return narrow(body(values.drop_back()), element);
                 })
      .getResult(0);
}

// --- norms ---

/// 1 / sqrt(sum / features + eps).
static Value factorOf(RowBuilder &r, Value sum, Value features,
                      const APFloat &eps) {
  Value mean = r.make<arith::DivFOp>(sum, features);
  Value root = math::SqrtOp::create(
      r.b, r.loc, r.make<arith::AddFOp>(mean, r.number(eps.convertToDouble())));
  return r.make<arith::DivFOp>(r.number(1), root);
}

static Value lower(RowBuilder &r, RmsNormOp op) {
  Value features = r.features();
  Value squares = r.sumOfRows(
      {}, [&](ValueRange x) { return r.make<arith::MulFOp>(x[0], x[0]); });
  SmallVector<Value> weights;
  if (op.getWeight())
    weights.push_back(op.getWeight());
  return r.mapRows({squares}, weights, [&](ValueRange x) {
    Value factor = factorOf(r, x[1], features, op.getEps());
    Value y = r.make<arith::MulFOp>(x[0], factor);
    return op.getWeight() ? r.make<arith::MulFOp>(y, x[2]) : y;
  });
}

static Value lower(RowBuilder &r, LayerNormOp op) {
  Value features = r.features();
  Value sum = r.sumOfRows({}, [](ValueRange x) { return x[0]; });
  auto centered = [&](ValueRange x) {
    return r.make<arith::SubFOp>(x[0], r.make<arith::DivFOp>(x[1], features));
  };
  Value squares = r.sumOfRows({sum}, [&](ValueRange x) {
    Value d = centered(x);
    return r.make<arith::MulFOp>(d, d);
  });
  SmallVector<Value> ofFeatures;
  for (Value tensor : {op.getWeight(), op.getBias()})
    if (tensor)
      ofFeatures.push_back(tensor);
  return r.mapRows({sum, squares}, ofFeatures, [&](ValueRange x) {
    Value factor = factorOf(r, x[2], features, op.getEps());
    Value y = r.make<arith::MulFOp>(centered(x), factor);
    if (op.getWeight())
      y = r.make<arith::MulFOp>(y, x[3]);
    return op.getBias() ? r.make<arith::AddFOp>(y, x.back()) : y;
  });
}

// --- rope ---

/// Where one feature of all pairs lies in a row: the first or the second.
static SmallVector<SmallVector<OpFoldResult>> sliceOf(RowBuilder &r, RopeOp op,
                                                      bool second) {
  int64_t pairs = op.getCos().getType().getDimSize(1);
  SmallVector<OpFoldResult> offsets(r.type.getRank(), r.b.getIndexAttr(0)),
      sizes(r.getSizes()), strides(r.type.getRank(), r.b.getIndexAttr(1));
  if (second)
    offsets.back() = r.b.getIndexAttr(op.getInterleaved() ? 1 : pairs);
  sizes.back() = r.b.getIndexAttr(pairs);
  if (op.getInterleaved())
    strides.back() = r.b.getIndexAttr(2);
  return {offsets, sizes, strides};
}

/// The row of the tables for the row that a point of the loops is in; `given`
/// is its position, or null.
static Value positionOf(RowBuilder &r, RopeOp op, Value given) {
  Value position;
  if (given)
    position =
        arith::IndexCastOp::create(r.b, r.loc, r.b.getIndexType(), given);
  else
    position = linalg::IndexOp::create(r.b, r.loc, r.type.getRank() - 2);
  Value rows = tensor::DimOp::create(r.b, r.loc, op.getCos(), 0);
  Value last = r.make<arith::SubIOp>(rows, r.index(1));
  position = r.make<arith::MinSIOp>(position, last);
  return r.make<arith::MaxSIOp>(position, r.index(0));
}

/// One feature of every pair, turned: x * cos - y * sin of the first ones x and
/// the second ones y, or y * cos + x * sin.
static Value turn(RowBuilder &r, RopeOp op, Value x, Value y, bool second) {
  OpBuilder &b = r.b;
  Location loc = r.loc;
  int64_t rank = r.type.getRank();
  AffineMap all = b.getMultiDimIdentityMap(rank);
  SmallVector<Value> inputs{x, y};
  SmallVector<AffineMap> maps{all, all};
  if (Value positions = op.getPositions()) {
    inputs.push_back(positions);
    SmallVector<unsigned> dims{unsigned(rank - 2)};
    if (cast<RankedTensorType>(positions.getType()).getRank() == 2)
      dims.insert(dims.begin(), 0);
    maps.push_back(
        AffineMap::getMultiDimMapWithTargets(rank, dims, b.getContext()));
  }
  maps.push_back(all);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  Type element = r.type.getElementType();
  Value out = r.empty(tensor::getMixedSizes(b, loc, x), element);
  auto body = [&](OpBuilder &inner, Location, ValueRange values) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(inner.getInsertionBlock());
    Value row = positionOf(r, op, op.getPositions() ? values[2] : Value());
    Value pair = linalg::IndexOp::create(b, loc, rank - 1);
    auto timesEntry = [&](Value feature, Value table) {
      Value entry =
          tensor::ExtractOp::create(b, loc, table, ValueRange{row, pair});
      return r.make<arith::MulFOp>(r.widen(feature), r.widen(entry));
    };
    Value turned =
        second ? r.make<arith::AddFOp>(timesEntry(values[1], op.getCos()),
                                       timesEntry(values[0], op.getSin()))
               : r.make<arith::SubFOp>(timesEntry(values[0], op.getCos()),
                                       timesEntry(values[1], op.getSin()));
    linalg::YieldOp::create(b, loc, r.narrow(turned, element));
  };
  return linalg::GenericOp::create(b, loc, out.getType(), inputs, out, maps,
                                   iterators, body)
      .getResult(0);
}

static Value lower(RowBuilder &r, RopeOp op) {
  OpBuilder &b = r.b;
  Location loc = r.loc;
  int64_t pairs = op.getCos().getType().getDimSize(1), rank = r.type.getRank();
  if (pairs == 0) // there is nothing to turn
    return op.getInput();
  SmallVector<SmallVector<OpFoldResult>> slices[] = {sliceOf(r, op, false),
                                                     sliceOf(r, op, true)};
  SmallVector<Value> halves;
  for (auto &slice : slices)
    halves.push_back(tensor::ExtractSliceOp::create(
        b, loc, op.getInput(), slice[0], slice[1], slice[2]));
  Value result = r.empty(r.getSizes(), r.type.getElementType());
  for (bool second : {false, true}) {
    auto &slice = slices[second];
    Value part = turn(r, op, halves[0], halves[1], second);
    result = tensor::InsertSliceOp::create(b, loc, part, result, slice[0],
                                           slice[1], slice[2]);
  }
  int64_t left = r.type.getShape().back() - 2 * pairs;
  if (left == 0)
    return result;
  // Features behind the pairs stay.
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)),
      sizes(r.getSizes()), strides(rank, b.getIndexAttr(1));
  offsets.back() = b.getIndexAttr(2 * pairs);
  sizes.back() = b.getIndexAttr(left);
  Value rest = tensor::ExtractSliceOp::create(b, loc, op.getInput(), offsets,
                                              sizes, strides);
  return tensor::InsertSliceOp::create(b, loc, rest, result, offsets, sizes,
                                       strides);
}

// --- scale ---

static Value lower(RowBuilder &r, ScaleOp op) {
  return r.mapRows({}, {}, [&](ValueRange x) {
    return r.make<arith::MulFOp>(x[0],
                                 r.number(op.getFactor().convertToDouble()));
  });
}

namespace {
struct LowerPrologue : attn::impl::LowerPrologueBase<LowerPrologue> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](Operation *op) {
      rewriter.setInsertionPoint(op);
      llvm::TypeSwitch<Operation *>(op)
          .Case<RopeOp, RmsNormOp, LayerNormOp, ScaleOp>([&](auto typed) {
            RowBuilder rows(rewriter, op);
            rewriter.replaceOp(op, lower(rows, typed));
          });
    });
  }
};
} // namespace
