// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-raise-rope: rotary embedding that is written out becomes attn.rope.
//
//   %a = tensor.extract_slice %x[0, 0, 0, 0] .. : tensor<?x4x?x8xf32>
//   %b = tensor.extract_slice %x[0, 0, 0, 8] .. : tensor<?x4x?x8xf32>
//   %n = arith.negf %b
//   %r = tensor.concat dim(3) %n, %a
//   %c = linalg.broadcast ins(%cos : tensor<?x?x16xf32>) dimensions = [1]
//   %s = linalg.broadcast ins(%sin : tensor<?x?x16xf32>) dimensions = [1]
//   %0 = arith.mulf %x, %c
//   %1 = arith.mulf %r, %s
//   %y = arith.addf %0, %1
// becomes
//   %p = linalg.generic { b * length + s }              (positions, B x S)
//   %y = attn.rope %x, %cos', %sin' at %p
// where %cos' is the first half of the features of %cos, all rows in one
// matrix.
//
// What a tensor holds is read half by half: as the first and the second feature
// of each pair. Pairs are features i and i + R/2, or 2i and 2i + 1. It is a
// rotation if the first is x0 * cos - x1 * sin and the second x1 * cos + x0 *
// sin, however that is written: with a concat in front of the products or
// behind them, with a difference or a negation. Where cosines stand once per
// feature, both of a pair must be known to be the same: exporters write a
// concat of the angles with themselves, or a table with such rows.
//
// Angles are those of rows, or of batch entries and rows. Heads may stand in
// front of the rows or behind them. Features that are not rotated and are
// concatenated behind go into the op.
//
// Before: any specification on tensors. After: the same, with attn.rope for
// rotations. One whose angles do not fit has a missed remark and stays.
#include "RotatedPairs.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"

namespace attn {
#define GEN_PASS_DEF_RAISEROPE
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// One tensor of angles: its rows, and the dimensions of the input that they
/// are.
struct AngleTable {
  Value rows;
  int which; ///< as in Half
  SmallVector<int64_t> dims;
};

/// A rotation that can become an attn.rope.
struct Rope {
  Rotation rotation;
  AngleTable cos, sin;
  bool rowsFirst; ///< (.., S, H, D)
  bool hasBatch;  ///< angles per batch entry
};
} // namespace

/// The tensor behind a broadcast, and which dimensions it has.
static AngleTable tableOf(const Half &half) {
  AngleTable table{half.tensor, half.which, {}};
  auto broadcast = half.tensor.getDefiningOp<linalg::BroadcastOp>();
  int64_t rank = rankedType(half.tensor).getRank();
  for (int64_t i = 0; i + 1 < rank; ++i)
    if (!broadcast || !llvm::is_contained(broadcast.getDimensions(), i))
      table.dims.push_back(i);
  if (broadcast)
    table.rows = broadcast.getInput();
  return table;
}

/// Dimensions of heads that have the size 1 tell nothing apart.
static void dropOne(AngleTable &table, int64_t head) {
  auto *found = llvm::find(table.dims, head);
  if (found == table.dims.end())
    return;
  int64_t at = found - table.dims.begin();
  if (rankedType(table.rows).getDimSize(at) == 1)
    table.dims.erase(found);
}

/// Decides how the angles lie; `reason` says why they do not.
static std::optional<Rope> layOut(const Rotation &rotation,
                                  std::string &reason) {
  Rope rope{rotation, tableOf(rotation.cos), tableOf(rotation.sin), false,
            false};
  int64_t rank = rankedType(rotation.input).getRank();
  if (rank < 2 || rank > 4) {
    reason = "it has rank " + std::to_string(rank);
    return std::nullopt;
  }
  Type element = rankedType(rotation.input).getElementType();
  if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element)) {
    reason = "its elements are not of f16, bf16, f32 or f64";
    return std::nullopt;
  }
  auto fits = [&](AngleTable table, int64_t row, int64_t head) {
    dropOne(table, head);
    return table.dims == SmallVector<int64_t>{row} ||
           (rank == 4 && table.dims == SmallVector<int64_t>{0, row});
  };
  auto both = [&](int64_t row, int64_t head) {
    return fits(rope.cos, row, head) && fits(rope.sin, row, head);
  };
  bool isRowsLast = both(rank - 2, rank - 3),
       isRowsFirst = rank >= 3 && both(rank - 3, rank - 2);
  if ((!isRowsLast && !isRowsFirst) ||
      rope.cos.dims.size() != rope.sin.dims.size()) {
    reason = "its cosines and sines are not those of rows, or of batch entries "
             "and rows";
    return std::nullopt;
  }
  rope.rowsFirst = !isRowsLast;
  rope.hasBatch = rank == 4 && rope.cos.dims.front() == 0 &&
                  rankedType(rotation.input).getDimSize(0) != 1;
  return rope;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// The cosines or sines of each pair, of type `element`, all rows in a matrix.
static Value emitTable(OpBuilder &b, Location loc, const AngleTable &table,
                       Pairing pairing, Type element) {
  Value rows = table.rows;
  auto type = rankedType(rows);
  int64_t rank = type.getRank();
  if (table.which != Half::whole) {
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, rows),
                              offsets(rank, b.getIndexAttr(0)),
                              strides(rank, b.getIndexAttr(1));
    int64_t half = type.getShape().back() / 2;
    bool areNeighbours = pairing == Pairing::Neighbours;
    sizes.back() = b.getIndexAttr(half);
    strides.back() = b.getIndexAttr(areNeighbours ? 2 : 1);
    offsets.back() = b.getIndexAttr(table.which * (areNeighbours ? 1 : half));
    rows =
        tensor::ExtractSliceOp::create(b, loc, rows, offsets, sizes, strides);
  }
  if (rank > 2) {
    SmallVector<ReassociationIndices> groups(2);
    for (int64_t i = 0; i + 1 < rank; ++i)
      groups[0].push_back(i);
    groups[1].push_back(rank - 1);
    rows = tensor::CollapseShapeOp::create(b, loc, rows, groups);
  }
  type = rankedType(rows);
  if (type.getElementType() == element)
    return rows;
  return arith::ExtFOp::create(b, loc, type.clone(element), rows);
}

/// Row s of batch entry b has the place b * length + s in its tables.
static Value emitPositions(OpBuilder &b, Location loc, Value input) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, input);
  SmallVector<OpFoldResult> rows{sizes[0], sizes[2]};
  Value length = getValueOrCreateConstantIndexOp(b, loc, sizes[2]);
  Value empty = tensor::EmptyOp::create(b, loc, rows, b.getI64Type());
  SmallVector<utils::IteratorType> loops(2, utils::IteratorType::parallel);
  auto body = [&](OpBuilder &inner, Location at, ValueRange) {
    Value entry = linalg::IndexOp::create(inner, at, 0),
          row = linalg::IndexOp::create(inner, at, 1);
    Value begin = arith::MulIOp::create(inner, at, entry, length);
    Value place = arith::AddIOp::create(inner, at, begin, row);
    Value number =
        arith::IndexCastOp::create(inner, at, inner.getI64Type(), place);
    linalg::YieldOp::create(inner, at, number);
  };
  return linalg::GenericOp::create(b, loc, empty.getType(), ValueRange(), empty,
                                   b.getMultiDimIdentityMap(2), loops, body)
      .getResult(0);
}

/// Rows and heads change places.
static Value swapped(OpBuilder &b, Location loc, Value value) {
  int64_t rank = rankedType(value).getRank();
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(rank));
  std::swap(order[rank - 3], order[rank - 2]);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, value);
  std::swap(sizes[rank - 3], sizes[rank - 2]);
  Value empty = tensor::EmptyOp::create(b, loc, sizes,
                                        rankedType(value).getElementType());
  return linalg::TransposeOp::create(b, loc, value, empty, order)->getResult(0);
}

static Value emitRope(OpBuilder &b, Location loc, const Rope &rope,
                      Value input) {
  Type element = rankedType(input).getElementType();
  Type statistics = element.isF64() ? element : Type(b.getF32Type());
  Pairing pairing = rope.rotation.pairing;
  Value cos = emitTable(b, loc, rope.cos, pairing, statistics);
  Value sin = emitTable(b, loc, rope.sin, pairing, statistics);
  if (rope.rotation.backwards)
    sin = arith::NegFOp::create(b, loc, sin);
  if (rope.rowsFirst)
    input = swapped(b, loc, input);
  Value positions = rope.hasBatch ? emitPositions(b, loc, input) : Value();
  auto y = RopeOp::create(b, loc, input.getType(), input, cos, sin, positions,
                          pairing == Pairing::Neighbours);
  y->setAttr(AttnDialect::rowForRowAttr, b.getUnitAttr());
  return rope.rowsFirst ? swapped(b, loc, y) : y;
}

/// The concat that puts features behind `value`, which stay as they are in the
/// tensor that `input` is the front of.
static tensor::ConcatOp concatWithRest(Value value, Value input) {
  auto front = input.getDefiningOp<tensor::ExtractSliceOp>();
  if (!front || !value.hasOneUse())
    return {};
  auto concat = dyn_cast<tensor::ConcatOp>(*value.user_begin());
  int64_t last = rankedType(value).getRank() - 1, features = featuresOf(value);
  if (!concat || concat.getInputs().size() != 2 ||
      concat.getInputs()[0] != value ||
      static_cast<int64_t>(concat.getDim()) != last ||
      concat.getType() != front.getSourceType())
    return {};
  auto rest = concat.getInputs()[1].getDefiningOp<tensor::ExtractSliceOp>();
  auto begins = [&](tensor::ExtractSliceOp slice, int64_t at) {
    for (int64_t i = 0; i <= last; ++i)
      if (getConstantIntValue(slice.getMixedOffsets()[i]) !=
              (i == last ? at : 0) ||
          getConstantIntValue(slice.getMixedStrides()[i]) != 1)
        return false;
    return true;
  };
  return rest && rest.getSource() == front.getSource() && begins(front, 0) &&
                 begins(rest, features)
             ? concat
             : tensor::ConcatOp();
}

static void rewrite(IRRewriter &rewriter, Value value, const Rope &rope) {
  Operation *op = value.getDefiningOp();
  Location loc = op->getLoc();
  Value input = rope.rotation.input, replaced = value;
  if (tensor::ConcatOp concat = concatWithRest(value, input)) {
    input = input.getDefiningOp<tensor::ExtractSliceOp>().getSource();
    replaced = concat.getResult();
  }
  rewriter.setInsertionPoint(replaced.getDefiningOp());
  Value y = emitRope(rewriter, loc, rope, input);
  rewriter.replaceAllUsesWith(replaced, y);
  remark::passed(
      loc, remark::RemarkOpts::name("RaisedRope").category("attn-raise-rope"))
      << "read as rotary embedding";
}

namespace {
struct RaiseRope : attn::impl::RaiseRopeBase<RaiseRope> {
  void runOnOperation() override {
    SmallVector<Value> values;
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::AddFOp, arith::SubFOp, tensor::ConcatOp,
              tensor::CollapseShapeOp>(op) &&
          isa<RankedTensorType>(op->getResult(0).getType()))
        values.push_back(op->getResult(0));
    });
    IRRewriter rewriter(&getContext());
    for (Value value : values)
      if (!value.use_empty())
        raise(rewriter, value);
  }

  void raise(IRRewriter &rewriter, Value value) {
    std::string reason;
    for (Pairing pairing : {Pairing::Halves, Pairing::Neighbours}) {
      std::optional<Rotation> rotation = readRotation(value, pairing, reason);
      std::optional<Rope> rope =
          rotation ? layOut(*rotation, reason) : std::nullopt;
      if (rope)
        return rewrite(rewriter, value, *rope);
    }
    if (!reason.empty())
      remark::missed(
          value.getLoc(),
          remark::RemarkOpts::name("NotRope").category("attn-raise-rope"))
          << "not read as rotary embedding: " + reason;
  }
};
} // namespace
