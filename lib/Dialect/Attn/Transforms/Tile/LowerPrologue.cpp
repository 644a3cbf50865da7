// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-lower-prologue: what happens to queries and keys before they meet.
//
// Before:  %r = attn.rope %q, %cos, %sin : tensor<?x8x?x64xf32>, ..
// After:   %r = scf.forall (%b, %h, %t) in (%B, 8, %tiles)
//              shared_outs(%o = %empty) {
//            %rows = linalg.generic .. outs(%o_tile : tensor<?x64xf32>) {
//              // x * cos - y * sin, read by tensor.extract
//            }
//            scf.forall.in_parallel { tensor.parallel_insert_slice %rows .. }
//          }
//
// A pass over queries and keys of its own: it costs head dimension operations
// per row, where the attention costs that per pair. Positions outside of the
// tables take the nearest row. Numbers of 16 bits are widened to f32 when they
// are read; each result is rounded once, when it is written.
//
// An attn.scale that no attention took in, as that of a query with another
// use, becomes a linalg.generic.
//
// Before: attn.rope and attn.rms_norm of rank 2 to 4, attn.scale. After: none
// of them.
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace attn {
#define GEN_PASS_DEF_LOWERPROLOGUE
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

static constexpr int64_t rowsPerItem = 64;

namespace {
/// The rows `first` .. of one head, and the matrix that they become.
struct RowTile {
  OpBuilder &b;
  Location loc;
  SmallVector<Value> leading; // batch entry and head, as far as there are any
  Value first, out;
  FloatType wide; // what is computed in

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value less(Value x, Value y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y);
  }
  Value number(double value) {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(wide, value));
  }
  Value read(Value tensor, ValueRange at) {
    Value x = tensor::ExtractOp::create(b, loc, tensor, at);
    return x.getType() == wide ? x : arith::ExtFOp::create(b, loc, wide, x);
  }
  /// Element [row of the tile][column] of a tensor shaped like the input.
  Value element(Value tensor, Value row, Value column) {
    SmallVector<Value> at(leading);
    at.append({add(first, row), column});
    return read(tensor, at);
  }
  /// Computes each element of a tensor like `init` from its indices, and rounds
  /// it.
  Value generate(Value init, function_ref<Value(ValueRange indices)> body) {
    auto type = cast<RankedTensorType>(init.getType());
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    auto map =
        AffineMap::getMultiDimIdentityMap(type.getRank(), b.getContext());
    auto generic = linalg::GenericOp::create(
        b, loc, type, ValueRange(), init, map, iterators,
        [&](OpBuilder &inner, Location, ValueRange) {
          SmallVector<Value> indices;
          for (int64_t i = 0; i < type.getRank(); ++i)
            indices.push_back(linalg::IndexOp::create(inner, loc, i));
          Value x = body(indices);
          if (x.getType() != type.getElementType())
            x = arith::TruncFOp::create(inner, loc, type.getElementType(), x);
          linalg::YieldOp::create(inner, loc, x);
        });
    return generic.getResult(0);
  }
};
} // namespace

/// Few processors compute with 16 bits, and sums need more.
static FloatType wideType(Type element) {
  auto type = cast<FloatType>(element);
  return type.getWidth() < 32 ? Float32Type::get(type.getContext()) : type;
}

/// Replaces `op` by a loop over tiles of rows of its input.
static void lowerRows(Operation *op, IRRewriter &rewriter,
                      function_ref<Value(RowTile &)> computeTile) {
  Location loc = op->getLoc();
  rewriter.setInsertionPoint(op);
  Value input = op->getOperand(0);
  auto type = cast<RankedTensorType>(input.getType());
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, input);
  Value empty =
      tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
  Value rows = getValueOrCreateConstantIndexOp(rewriter, loc, sizes[rank - 2]);
  Value tile = arith::ConstantIndexOp::create(rewriter, loc, rowsPerItem);
  SmallVector<OpFoldResult> bounds(sizes.begin(), sizes.end() - 2);
  bounds.push_back(
      getAsOpFoldResult(arith::CeilDivUIOp::create(rewriter, loc, rows, tile)));
  auto forall = scf::ForallOp::create(rewriter, loc, bounds, empty,
                                      /*mapping=*/std::nullopt);
  rewriter.setInsertionPointToStart(forall.getBody());
  SmallVector<Value> ivs = forall.getInductionVars();
  Value first = arith::MulIOp::create(rewriter, loc, ivs.back(), tile);
  Value left = arith::SubIOp::create(rewriter, loc, rows, first);
  Value count = arith::MinUIOp::create(rewriter, loc, left, tile);
  ivs.pop_back();
  SmallVector<OpFoldResult> offsets = getAsOpFoldResult(ivs),
                            strides(rank, rewriter.getIndexAttr(1)),
                            extents(rank - 2, rewriter.getIndexAttr(1));
  offsets.append({first, rewriter.getIndexAttr(0)});
  extents.append({count, sizes[rank - 1]});
  auto matrix = RankedTensorType::get(
      {ShapedType::kDynamic, type.getDimSize(rank - 1)}, type.getElementType());
  Value out = tensor::ExtractSliceOp::create(rewriter, loc, matrix,
                                             forall.getRegionIterArgs()[0],
                                             offsets, extents, strides);
  RowTile rowTile{rewriter, loc, ivs,
                  first,    out, wideType(type.getElementType())};
  Value result = computeTile(rowTile);
  rewriter.setInsertionPointToEnd(forall.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(rewriter, loc, result,
                                        forall.getRegionIterArgs()[0], offsets,
                                        extents, strides);
  rewriter.replaceOp(op, forall.getResults());
}

/// The row of the tables that row `row` of the tile uses.
static Value positionOf(RowTile &t, RopeOp op, Value row) {
  OpBuilder &b = t.b;
  Value position = t.add(t.first, row);
  if (Value positions = op.getPositions()) {
    SmallVector<Value> at;
    if (cast<RankedTensorType>(positions.getType()).getRank() == 2)
      at.push_back(t.leading.front());
    at.push_back(position);
    Value number = tensor::ExtractOp::create(b, t.loc, positions, at);
    position = arith::IndexCastOp::create(b, t.loc, b.getIndexType(), number);
  }
  Value rows = tensor::DimOp::create(b, t.loc, op.getCos(), 0);
  Value last = t.add(rows, t.index(-1));
  position = arith::MinSIOp::create(b, t.loc, position, last);
  return arith::MaxSIOp::create(b, t.loc, position, t.index(0));
}

static Value rotate(RowTile &t, RopeOp op, Value row, Value d) {
  OpBuilder &b = t.b;
  Location loc = t.loc;
  int64_t pairs = op.getCos().getType().getDimSize(1);
  if (pairs == 0) // there is nothing to read
    return t.element(op.getInput(), row, d);
  Value pair, partner, isFirst;
  if (op.getInterleaved()) {
    Value one = t.index(1);
    pair = arith::ShRUIOp::create(b, loc, d, one);
    partner = arith::XOrIOp::create(b, loc, d, one);
    Value odd = arith::AndIOp::create(b, loc, d, one);
    isFirst = t.less(odd, one);
  } else {
    Value half = t.index(pairs), behind = t.add(d, t.index(-pairs));
    isFirst = t.less(d, half);
    pair = t.select(isFirst, d, behind);
    partner = t.select(isFirst, t.add(d, half), behind);
  }
  // Features behind the rotated ones read something that is there.
  Value rotated = t.less(d, t.index(2 * pairs));
  pair = t.select(rotated, pair, t.index(0));
  partner = t.select(rotated, partner, d);
  Value position = positionOf(t, op, row);
  auto table = [&](Value tensor) { return t.read(tensor, {position, pair}); };
  Value x = t.element(op.getInput(), row, d);
  Value y = t.element(op.getInput(), row, partner);
  Value sin = table(op.getSin());
  Value signedSin = t.select(isFirst, arith::NegFOp::create(b, loc, sin), sin);
  Value sum = arith::AddFOp::create(
      b, loc, arith::MulFOp::create(b, loc, x, table(op.getCos())),
      arith::MulFOp::create(b, loc, y, signedSin));
  return t.select(rotated, sum, x);
}

static Value computeTile(RowTile &t, RopeOp op) {
  return t.generate(t.out,
                    [&](ValueRange at) { return rotate(t, op, at[0], at[1]); });
}

static Value computeTile(RowTile &t, RmsNormOp op) {
  OpBuilder &b = t.b;
  Location loc = t.loc;
  int64_t last = op.getInput().getType().getRank() - 1;
  Value features = tensor::DimOp::create(b, loc, op.getInput(), last);
  Value wide = arith::IndexCastOp::create(b, loc, b.getI64Type(), features);
  Value count = arith::SIToFPOp::create(b, loc, t.wide, wide);
  Value eps = t.number(op.getEps().convertToDouble()), one = t.number(1);
  Value rows = tensor::DimOp::create(b, loc, t.out, 0);
  // Of known size, as all memory of a parallel item.
  Value factors =
      tensor::EmptyOp::create(b, loc, ArrayRef<int64_t>{rowsPerItem}, t.wide);
  factors = tensor::ExtractSliceOp::create(
      b, loc, factors, ArrayRef<OpFoldResult>{b.getIndexAttr(0)},
      ArrayRef<OpFoldResult>{rows}, ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  factors = t.generate(factors, [&](ValueRange at) -> Value {
    Value zero = t.number(0), begin = t.index(0), step = t.index(1);
    auto sum = scf::ForOp::create(
        b, loc, begin, features, step, zero,
        [&](OpBuilder &, Location, Value d, ValueRange carried) {
          Value x = t.element(op.getInput(), at[0], d);
          Value square = arith::MulFOp::create(b, loc, x, x);
          Value next = arith::AddFOp::create(b, loc, carried[0], square);
          scf::YieldOp::create(b, loc, next);
        });
    Value mean = arith::DivFOp::create(b, loc, sum.getResult(0), count);
    Value root =
        math::SqrtOp::create(b, loc, arith::AddFOp::create(b, loc, mean, eps));
    return arith::DivFOp::create(b, loc, one, root);
  });
  return t.generate(t.out, [&](ValueRange at) -> Value {
    Value x = t.element(op.getInput(), at[0], at[1]);
    Value factor = t.read(factors, at[0]);
    Value normal = arith::MulFOp::create(b, loc, x, factor);
    if (!op.getWeight())
      return normal;
    return arith::MulFOp::create(b, loc, normal, t.read(op.getWeight(), at[1]));
  });
}

static void lowerScale(ScaleOp op, IRRewriter &rewriter) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  RankedTensorType type = op.getType();
  Type element = type.getElementType();
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, op.getInput()),
      element);
  AffineMap map = rewriter.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto multiply = [&](OpBuilder &b, Location, ValueRange values) {
    FloatType wide = wideType(element);
    bool narrow = wide != element;
    Value x = values[0];
    if (narrow)
      x = arith::ExtFOp::create(b, loc, wide, x);
    Value factor = arith::ConstantOp::create(
        b, loc, b.getFloatAttr(wide, op.getFactor().convertToDouble()));
    x = arith::MulFOp::create(b, loc, x, factor);
    if (narrow)
      x = arith::TruncFOp::create(b, loc, element, x);
    linalg::YieldOp::create(b, loc, x);
  };
  auto scaled = linalg::GenericOp::create(rewriter, loc, type, op.getInput(),
                                          empty, ArrayRef<AffineMap>{map, map},
                                          iterators, multiply);
  rewriter.replaceOp(op, scaled.getResults());
}

namespace {
struct LowerPrologue : attn::impl::LowerPrologueBase<LowerPrologue> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<RopeOp, RmsNormOp, ScaleOp>(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops) {
      if (auto scale = dyn_cast<ScaleOp>(op)) {
        lowerScale(scale, rewriter);
        continue;
      }
      lowerRows(op, rewriter, [&](RowTile &tile) {
        if (auto rope = dyn_cast<RopeOp>(op))
          return computeTile(tile, rope);
        return computeTile(tile, cast<RmsNormOp>(op));
      });
    }
  }
};
} // namespace
