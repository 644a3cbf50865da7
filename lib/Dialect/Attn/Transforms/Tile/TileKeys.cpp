// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Visits only the tiles of keys that the mask sees.
//
// Before:  %s1 = attn.online %s0, %k, %v rows %begin to %end keys from %c0 ..
//                  where causal(top_left) mode edge
// After:   %s1 = scf.for %t = %c0 to %full iter_args(%s = %s0) {
//            %k_tile = tensor.extract_slice %k[%first, 0] ..
//            %n = attn.online %s, %k_tile, %v_tile .. keys from %first mode
//            full scf.yield %n
//          }
//          %s2 = scf.for %t = %full to %last iter_args(%s = %s1) { .. mode edge
//          }
//
// The bounds come from the mask's formula by attn/Analysis/MaskBounds.h: key
// tiles in which no row of the query tile sees a key are not visited, tiles in
// which every row sees every key are computed without the mask. Tiles above
// the diagonal of a causal mask thus do not exist in the code. The last tile
// may have fewer keys; that is a loop bound of the kernel, not a mask. In kind
// decode so are the first and the last key that is seen, and an edge tile whose
// keys between them are all seen becomes a full one at run time.
//
// Two maps of one op take their steps in the same loops, with the same tile of
// values.
//
// An online op over a part of the keys (one that does not begin at key 0)
// visits the tiles of that part; parts begin at a multiple of key_tile.
// A tile in which a bitmap that must allow its pairs allows none is left out at
// run time (BlockSparsity.cpp).
//
// The analysis does a limited amount of work. A mask that needs more gets
// bounds that are too wide, which is a missed remark.
//
// An attn.weigh is cut into all tiles: weights of excluded pairs are written
// too, as 0.
//
// Before: online ops over all keys. After: no tile has more than key_tile keys.
#include "Masks/BlockSparsity.h"
#include "attn/Analysis/MaskBounds.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Attn/Utils/MaskLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"

namespace attn {
#define GEN_PASS_DEF_TILEKEYS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// `count` rows of `matrix` from row `first`, or columns.
static Value extractRows(OpBuilder &b, Location loc, Value matrix, Value first,
                         Value count) {
  auto columns = tensor::getMixedSize(b, loc, matrix, 1);
  SmallVector<OpFoldResult> offsets{first, b.getIndexAttr(0)},
      sizes{count, columns}, strides(2, b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, loc, matrix, offsets, sizes,
                                        strides);
}

/// The tiles that hold the keys of `op`, where it has a part of them only.
template <typename Op>
static std::optional<KeyTileRange> tilesOfPart(OpBuilder &b, Location loc,
                                               Op op, Value keyTile) {
  if (isZeroInteger(op.getKeyBegin()))
    return std::nullopt;
  Value count = getValueOrCreateConstantIndexOp(
      b, loc, tensor::getMixedSize(b, loc, op.getKey(), 0));
  Value begin = arith::DivUIOp::create(b, loc, op.getKeyBegin(), keyTile);
  Value last = arith::AddIOp::create(b, loc, op.getKeyBegin(), count);
  Value end = arith::CeilDivUIOp::create(b, loc, last, keyTile);
  return KeyTileRange{begin, end};
}

/// First key of tile `tile` and the number of its keys.
static std::pair<Value, Value> keysOfTile(OpBuilder &b, Location loc,
                                          Value tile, Value keyTile,
                                          Value keyLength) {
  Value first = arith::MulIOp::create(b, loc, tile, keyTile);
  Value left = arith::SubIOp::create(b, loc, keyLength, first);
  return {first, arith::MinUIOp::create(b, loc, left, keyTile)};
}

/// The online op on the keys [first, first + count); the first of its key
/// operand is key_begin. Gives the next states.
static SmallVector<Value> cutOnline(OpBuilder &b, Location loc, OnlineOp op,
                                    ValueRange states, Value first, Value count,
                                    bool edge) {
  Value row = first;
  if (!isZeroInteger(op.getKeyBegin()))
    row = arith::SubIOp::create(b, loc, first, op.getKeyBegin());
  IRMapping mapping;
  mapping.map(op.getState(), states.front());
  mapping.map(op.getKey(), extractRows(b, loc, op.getKey(), row, count));
  mapping.map(op.getValue(), extractRows(b, loc, op.getValue(), row, count));
  if (Value key = op.getSecondKey()) {
    mapping.map(op.getSecondState(), states.back());
    mapping.map(key, extractRows(b, loc, key, row, count));
  }
  auto next = cast<OnlineOp>(b.clone(*op, mapping));
  next.getKeyBeginMutable().assign(first);
  next.setMode(edge ? TileMode::Edge : TileMode::Full);
  return SmallVector<Value>(next.getResults());
}

using Steps = function_ref<SmallVector<Value>(OpBuilder &)>;

static SmallVector<Value> choose(OpBuilder &b, Location loc, Value condition,
                                 Steps then, Steps otherwise) {
  auto yield = [](Steps steps) {
    return [steps](OpBuilder &inner, Location at) {
      scf::YieldOp::create(inner, at, steps(inner));
    };
  };
  auto choice =
      scf::IfOp::create(b, loc, condition, yield(then), yield(otherwise));
  return SmallVector<Value>(choice.getResults());
}

namespace {
/// Which single keys the rows of an item see. Memory sets the pace of kind
/// decode, and a processor's tiles are large: from one on the edge, nothing is
/// read in front of the first key that a row sees or behind the last, and where
/// every row sees all keys between, none is tested.
struct SeenKeys {
  Value begin, end;
  Value fullBegin, fullEnd; ///< null where that never happens

  SeenKeys(OpBuilder &b, Location loc, const KeyRanges &keys,
           const SymbolValues &symbols) {
    std::tie(begin, end) = emitHull(b, loc, keys, symbols);
    if (keys.neverFull)
      return;
    if (auto bounds = emitKeyBlockBounds(b, loc, keys, symbols))
      std::tie(fullBegin, fullEnd) =
          std::pair(bounds->fullBegin, bounds->fullEnd);
  }

  /// Cuts the edge tile [first, first + count), which keeps one key at least.
  SmallVector<Value> cut(OpBuilder &b, Location loc, OnlineOp op,
                         ValueRange states, Value first, Value count) const {
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value tileEnd = arith::AddIOp::create(b, loc, first, count);
    Value last = arith::SubIOp::create(b, loc, tileEnd, one);
    first = arith::MaxSIOp::create(b, loc, first, begin);
    first = arith::MinSIOp::create(b, loc, first, last);
    Value next = arith::AddIOp::create(b, loc, first, one);
    Value stop = arith::MinSIOp::create(b, loc, tileEnd, end);
    stop = arith::MaxSIOp::create(b, loc, stop, next);
    count = arith::SubIOp::create(b, loc, stop, first);
    if (!fullBegin)
      return cutOnline(b, loc, op, states, first, count, /*edge=*/true);
    auto compare = [&](Value low, Value high) -> Value {
      return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, low,
                                   high);
    };
    Value fromFull = compare(fullBegin, first), toFull = compare(stop, fullEnd);
    Value full = arith::AndIOp::create(b, loc, fromFull, toFull);
    auto online = [&](bool edge) {
      return [&, edge](OpBuilder &inner) {
        return cutOnline(inner, loc, op, states, first, count, edge);
      };
    };
    return choose(b, loc, full, online(false), online(true));
  }
};
} // namespace

static void tileOnline(OnlineOp op, IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  ScheduleInterface schedule = op.getScheduleAttr();
  MaskContext context;
  Formula formula = maskFormula(context, op.getMaskAttr());
  BoundsOptions options;
  options.ignoreRaggedTail = true;
  int64_t rows = schedule.getQueryTile() / static_cast<int64_t>(op.getHeads());
  KeyRanges ranges =
      analyzeMask(context, formula, {rows, schedule.getKeyTile()}, options);
  if (ranges.gaveUp)
    remark::missed(
        op.getLoc(),
        remark::RemarkOpts::name("TooComplex").category("attn-tile-keys"))
        << "the mask is too complex for exact bounds: tiles without a visible "
           "pair may be visited, and full ones tested per pair";
  SymbolValues symbols(ranges.context, op.getQueryLength(), op.getKeyLength(),
                       op.getMaskOperands());
  symbols.set(Variable::QueryBegin, op.getQueryBegin());
  symbols.set(Variable::QueryEnd, op.getQueryEnd());
  Value keyTile =
      arith::ConstantIndexOp::create(rewriter, loc, schedule.getKeyTile());
  std::optional<KeyTileRange> part = tilesOfPart(rewriter, loc, op, keyTile);
  std::optional<SeenKeys> keys;
  if (op.getState().getType().getKind() == Kind::Decode && op.getMaskAttr() &&
      !schedule.runsInBlocks())
    keys.emplace(rewriter, loc,
                 analyzeMask(context, formula, {rows, 1}, options), symbols);
  auto body = [&](OpBuilder &b, Location l, Value tile, bool edge,
                  ValueRange states) -> SmallVector<Value> {
    auto [first, count] = keysOfTile(b, l, tile, keyTile, op.getKeyLength());
    auto step = [&, first = first, count = count](OpBuilder &inner) {
      return edge && keys ? keys->cut(inner, l, op, states, first, count)
                          : cutOnline(inner, l, op, states, first, count, edge);
    };
    Value seen = emitSeesAnyBlock(b, l, op, first, count);
    if (!seen)
      return step(b);
    return choose(b, l, seen, step,
                  [&](OpBuilder &) { return SmallVector<Value>(states); });
  };
  SmallVector<Value> states{op.getState()};
  if (op.getSecondState())
    states.push_back(op.getSecondState());
  SmallVector<Value> next =
      emitKeyLoops(rewriter, loc, ranges, symbols, states, body, part);
  rewriter.replaceOp(op, next);
}

/// The dimension of this destination that is one of keys: rows of the sums by
/// keys and values, columns of that by the bias; -1 where all keys add to the
/// same elements.
static int keyDimOf(GradStepOp op, unsigned destination) {
  if (destination < 2)
    return 0;
  bool isBias = cast<StringAttr>((*op.getBy())[destination - 2]) == "bias";
  Value sum = op.getSums()[destination - 2];
  return isBias && cast<RankedTensorType>(sum.getType()).getDimSize(1) != 1
             ? 1
             : -1;
}

/// What keys of a tile add to: a slice of a sum, or all of it.
struct SumPart {
  Value value;
  SmallVector<OpFoldResult> offsets, sizes, strides;
};

/// Of each sum, what the keys of a tile add to, which begin at this row.
static SmallVector<SumPart> partsOfSums(OpBuilder &b, Location loc,
                                        GradStepOp op, ValueRange sums,
                                        Value row, Value count) {
  SmallVector<SumPart> parts;
  for (auto [i, sum] : llvm::enumerate(sums)) {
    SumPart &part = parts.emplace_back(SumPart{sum, {}, {}, {}});
    int dim = keyDimOf(op, i);
    if (dim < 0)
      continue;
    part.offsets.assign(2, b.getIndexAttr(0));
    part.offsets[dim] = row;
    part.sizes = tensor::getMixedSizes(b, loc, sum);
    part.sizes[dim] = count;
    part.strides.assign(2, b.getIndexAttr(1));
    part.value = tensor::ExtractSliceOp::create(b, loc, sum, part.offsets,
                                                part.sizes, part.strides);
  }
  return parts;
}

/// Key tiles of a gradient.
static void tileGradStep(GradStepOp op, IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  ScheduleInterface schedule = op.getScheduleAttr();
  MaskContext context;
  Formula formula = maskFormula(context, op.getMaskAttr());
  BoundsOptions options;
  options.ignoreRaggedTail = true;
  KeyRanges ranges =
      analyzeMask(context, formula,
                  {schedule.getQueryTile(), schedule.getKeyTile()}, options);
  SymbolValues symbols(ranges.context, op.getQueryLength(), op.getKeyLength(),
                       op.getMaskOperands());
  symbols.set(Variable::QueryBegin, op.getQueryBegin());
  symbols.set(Variable::QueryEnd, op.getQueryEnd());
  Value keyTile =
      arith::ConstantIndexOp::create(rewriter, loc, schedule.getKeyTile());
  std::optional<KeyTileRange> part = tilesOfPart(rewriter, loc, op, keyTile);
  auto body = [&](OpBuilder &b, Location l, Value tile, bool edge,
                  ValueRange sums) -> SmallVector<Value> {
    auto [first, count] = keysOfTile(b, l, tile, keyTile, op.getKeyLength());
    Value row = first;
    if (part)
      row = arith::SubIOp::create(b, l, first, op.getKeyBegin());
    IRMapping mapping;
    mapping.map(op.getKey(), extractRows(b, l, op.getKey(), row, count));
    mapping.map(op.getValue(), extractRows(b, l, op.getValue(), row, count));
    SmallVector<SumPart> parts = partsOfSums(b, l, op, sums, row, count);
    auto cut = cast<GradStepOp>(b.clone(*op, mapping));
    cut.getKeyBeginMutable().assign(first);
    // By place: key and value may be the same tensor.
    cut.getDpsInitsMutable().assign(llvm::map_to_vector(
        parts, [](const SumPart &part) { return part.value; }));
    cut.setMode(edge ? TileMode::Edge : TileMode::Full);
    SmallVector<Value> next(cut->getResults());
    for (auto [i, part] : llvm::enumerate(parts)) {
      if (part.offsets.empty())
        continue;
      next[i].setType(part.value.getType());
      next[i] = tensor::InsertSliceOp::create(
          b, l, next[i], sums[i], part.offsets, part.sizes, part.strides);
    }
    return next;
  };
  SmallVector<Value> sums{op.getDKey(), op.getDValue()};
  llvm::append_range(sums, op.getSums());
  rewriter.replaceOp(
      op, emitKeyLoops(rewriter, loc, ranges, symbols, sums, body, part));
}

static void tileWeigh(WeighOp op, IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value keyTile = arith::ConstantIndexOp::create(rewriter, loc,
                                                 op.getSchedule().getKeyTile());
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  Value tiles =
      arith::CeilDivUIOp::create(rewriter, loc, op.getKeyLength(), keyTile);
  SmallVector<Value> inits;
  for (Value init : {op.getWeights(), op.getScores()})
    if (init)
      inits.push_back(init);
  auto body = [&](OpBuilder &b, Location l, Value tile, ValueRange matrices) {
    auto [first, count] = keysOfTile(b, l, tile, keyTile, op.getKeyLength());
    IRMapping mapping;
    mapping.map(op.getKey(), extractRows(b, l, op.getKey(), first, count));
    SmallVector<Value> tileInits;
    SmallVector<OpFoldResult> offsets{b.getIndexAttr(0), first},
        strides(2, b.getIndexAttr(1));
    SmallVector<SmallVector<OpFoldResult>> sizes;
    for (Value matrix : matrices) {
      sizes.push_back({tensor::getMixedSize(b, l, matrix, 0), count});
      tileInits.push_back(tensor::ExtractSliceOp::create(
          b, l, matrix, offsets, sizes.back(), strides));
    }
    auto cut = cast<WeighOp>(b.clone(*op, mapping));
    cut.getKeyBeginMutable().assign(first);
    // By place: both matrices may be the same empty tensor.
    cut.getDpsInitsMutable().assign(tileInits);
    SmallVector<Value> next;
    for (auto [i, matrix] : llvm::enumerate(matrices)) {
      cut->getResult(i).setType(cast<RankedTensorType>(tileInits[i].getType()));
      next.push_back(tensor::InsertSliceOp::create(
          b, l, cut->getResult(i), matrix, offsets, sizes[i], strides));
    }
    scf::YieldOp::create(b, l, next);
  };
  auto loop = scf::ForOp::create(rewriter, loc, zero, tiles, one, inits, body);
  rewriter.replaceOp(op, loop.getResults());
}

namespace {
struct TileKeys : attn::impl::TileKeysBase<TileKeys> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<OnlineOp, WeighOp, GradStepOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>)) {
        op->emitOpError("expects tensors, which attn-tile-keys can cut; it "
                        "runs before bufferization");
        return signalPassFailure();
      }
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops) {
      if (auto online = dyn_cast<OnlineOp>(op))
        tileOnline(online, rewriter);
      else if (auto step = dyn_cast<GradStepOp>(op))
        tileGradStep(step, rewriter);
      else
        tileWeigh(cast<WeighOp>(op), rewriter);
    }
  }
};
} // namespace
