// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AttentionItem.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace attn;

tensor::ExtractSliceOp AttentionItem::slice(Value tensor,
                                            ArrayRef<OpFoldResult> offsets,
                                            ArrayRef<OpFoldResult> sizes,
                                            ArrayRef<int64_t> kept) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> strides(type.getRank(), index(1));
  auto full = tensor::ExtractSliceOp::inferResultType(type, sizes);
  SmallVector<int64_t> shape;
  for (int64_t dim : kept)
    shape.push_back(full.getDimSize(dim));
  return tensor::ExtractSliceOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), tensor,
      offsets, sizes, strides);
}

tensor::ExtractSliceOp
AttentionItem::headMatrix(Value tensor, SdpaOp::Dims dims, Value headIndex,
                          OpFoldResult from, OpFoldResult count) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), index(0)),
      sizes(type.getRank(), index(1));
  if (dims.batch >= 0)
    offsets[dims.batch] = batch;
  if (dims.head >= 0)
    offsets[dims.head] = headIndex;
  offsets[dims.sequence] = from;
  sizes[dims.sequence] = count;
  sizes[dims.feature] =
      tensor::getMixedSize(builder, loc, tensor, dims.feature);
  return slice(tensor, offsets, sizes, {dims.sequence, dims.feature});
}

Value AttentionItem::broadcastMatrix(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t rank = type.getRank();
  if (rank < 2) { // a row of keys, or one value for all
    Value v = tensor;
    SmallVector<ReassociationIndices> groups;
    if (rank == 1)
      groups.push_back({0, 1});
    SmallVector<int64_t> shape(2 - rank, 1);
    llvm::append_range(shape, type.getShape());
    return tensor::ExpandShapeOp::create(
        builder, loc, RankedTensorType::get(shape, type.getElementType()), v,
        groups);
  }
  SmallVector<OpFoldResult> offsets(rank, index(0)), sizes(rank, index(1));
  int scoresRank = op.scoresShape().size();
  for (int dim = 0; dim < rank; ++dim) {
    int target = dim + scoresRank - rank; // dimension of the scores
    if (dim >= rank - 2)
      sizes[dim] = tensor::getMixedSize(builder, loc, tensor, dim);
    else if (type.getDimSize(dim) != 1)
      offsets[dim] = target == scoresRank - 3 ? head : batch;
  }
  return slice(tensor, offsets, sizes, {rank - 2, rank - 1});
}

Value AttentionItem::sink() {
  // Without a dimension of heads, the item's head is 0.
  return op.getSinks()
             ? tensor::ExtractOp::create(builder, loc, op.getSinks(), head)
                   .getResult()
             : Value();
}

Value AttentionItem::lambda() {
  auto type = op.getLambda().getType();
  SmallVector<Value> at;
  if (type.getRank() == 1 && type.getDimSize(0) == 1)
    at.push_back(arith::ConstantIndexOp::create(builder, loc, 0));
  else if (type.getRank() == 1)
    at.push_back(head);
  return tensor::ExtractOp::create(builder, loc, op.getLambda(), at);
}

SmallVector<Value> AttentionItem::dropped() {
  if (!op.getSeed())
    return {};
  Value seed =
      tensor::ExtractOp::create(builder, loc, op.getSeed(), ValueRange());
  return {seed, batch, head};
}

ItemMask AttentionItem::mask() {
  Value end = arith::AddIOp::create(builder, loc, begin, rows);
  return maskOfItem(builder, loc, {op, batch, head, begin, end, keyLength},
                    [&](Value tensor) { return broadcastMatrix(tensor); });
}

/// The state of a tile of queries, of kind prefill.
static StateType stateTypeOf(SdpaOp op) {
  RankedTensorType query = op.getQuery().getType();
  Type element = query.getElementType();
  if (!element.isF64())
    element = Float32Type::get(op.getContext());
  return StateType::get(op.getContext(), op.getScheduleAttr().getQueryTile(),
                        query.getShape().back(),
                        op.getValue().getType().getShape().back(), element,
                        Kind::Prefill, op.getNormalization());
}

OnlineOp AttentionItem::attend(ItemMask mask, Value first, Value count) {
  OpBuilder &b = builder;
  Value keyLength = this->keyLength;
  if (op.seesLeadingKeys()) {
    // The same keys for all rows: they bound the loops, no pair is tested.
    Value length = mask.operands[cast<KeyLengthAttr>(mask.mask).getOperand()];
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    length = arith::MaxSIOp::create(b, loc, length, zero);
    keyLength = arith::MinSIOp::create(b, loc, length, keyLength);
    Value begin = arith::MinSIOp::create(b, loc, first, keyLength);
    Value left = arith::SubIOp::create(b, loc, keyLength, begin);
    count = arith::MinSIOp::create(b, loc, count, left);
    mask = {};
  }
  ScheduleInterface schedule = op.getScheduleAttr();
  StateType stateType = stateTypeOf(op);
  auto queriesOf = [&](Value ofHeads) -> Value {
    return headMatrix(ofHeads, op.queryDims(), head, begin, rows);
  };
  Value kvHead = group ? arith::DivUIOp::create(b, loc, head, group) : head;
  auto keysOf = [&](Value ofHeads, SdpaOp::Dims dims) -> Value {
    return headMatrix(ofHeads, dims, kvHead, getAsOpFoldResult(first),
                      getAsOpFoldResult(count));
  };
  auto initState = [&](Value query) -> Value {
    return InitStateOp::create(b, loc, stateType, query, op.getScaleAttr(),
                               schedule);
  };
  Value query = queriesOf(op.getQuery());
  Value key = keysOf(op.getKey(), op.keyDims());
  Value value = keysOf(op.getValue(), op.valueDims());
  Value bias = op.getBias() ? broadcastMatrix(op.getBias()) : Value();
  Value end = arith::AddIOp::create(b, loc, begin, rows);
  Value state = initState(query), secondState, secondKey;
  if (op.isDifferential()) {
    secondState = initState(queriesOf(op.getSecondQuery()));
    secondKey = keysOf(op.getSecondKey(), op.keyDims());
  }
  TileMode mode = mask.mask ? TileMode::Edge : TileMode::Full;
  auto online = OnlineOp::create(
      b, loc, stateType, secondState ? stateType : Type(), state, key, value,
      begin, end, first, queryLength, keyLength, bias, mask.operands,
      captures(), dropped(), /*prefetch=*/ValueRange(), secondState, secondKey,
      mask.mask, op.getDropoutAttr(), TileModeAttr::get(b.getContext(), mode),
      schedule,
      /*heads=*/b.getI64IntegerAttr(1));
  copyScoreFunction(online);
  return online;
}

SmallVector<Value> AttentionItem::captures() {
  SmallVector<Value> values;
  if (scoreFunctionOf(op)) {
    values.append({batch, head});
    llvm::append_range(values, op.getCaptures());
  }
  return values;
}

void AttentionItem::copyScoreFunction(Operation *to) {
  IRMapping mapping;
  if (Region *function = scoreFunctionOf(op))
    function->cloneInto(&to->getRegion(0), mapping);
}

QueryTiles::QueryTiles(SdpaOp op, OpBuilder &b)
    : op(op), builder(b), queryLength(sizeOf(b, op.getLoc(), op.getQuery(),
                                             op.queryDims().sequence)),
      keyLength(sizeOf(b, op.getLoc(), op.getKey(), op.keyDims().sequence)),
      heads(sizeOf(b, op.getLoc(), op.getQuery(), op.queryDims().head)),
      group(headGroup(b, op.getLoc(), op)),
      size(arith::ConstantIndexOp::create(b, op.getLoc(),
                                          op.getScheduleAttr().getQueryTile())),
      count(arith::CeilDivUIOp::create(b, op.getLoc(), queryLength, size)) {}

AttentionItem QueryTiles::item(Value batch, Value head, Value number) {
  OpBuilder &b = builder;
  Location loc = op.getLoc();
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value last = arith::SubIOp::create(b, loc, count, one);
  Value tile = arith::SubIOp::create(b, loc, last, number);
  Value begin = arith::MulIOp::create(b, loc, tile, size);
  Value left = arith::SubIOp::create(b, loc, queryLength, begin);
  Value rows = arith::MinUIOp::create(b, loc, left, size);
  return {op, b, loc, batch, head, begin, rows, queryLength, keyLength, group};
}

namespace {
/// Offsets and sizes of an item's part of a result, in the result's dimensions.
struct ResultPart {
  SmallVector<OpFoldResult> offsets, sizes;
  SmallVector<int64_t> kept;
};
} // namespace

/// Part of `out`, of a statistic per row, or of one per pair.
static ResultPart resultPart(AttentionItem &item, unsigned result) {
  SdpaOp op = item.op;
  Value value = op->getResult(result);
  auto type = cast<RankedTensorType>(value.getType());
  bool isOut = value == op.getOut() || value == op.getAcc();
  bool perRow =
      llvm::is_contained({op.getLse(), op.getMaximum(), op.getSum()}, value);
  int64_t rank = type.getRank();
  SdpaOp::Dims dims =
      isOut ? op.outDims() : SdpaOp::dims(rank + perRow, Layout::HeadMajor);
  ResultPart part;
  part.offsets.assign(rank, item.index(0));
  part.sizes.assign(rank, item.index(1));
  if (dims.batch >= 0)
    part.offsets[dims.batch] = item.batch;
  if (dims.head >= 0)
    part.offsets[dims.head] = item.head;
  part.offsets[dims.sequence] = item.begin;
  part.sizes[dims.sequence] = item.rows;
  part.kept.push_back(dims.sequence);
  if (!perRow) {
    part.kept.push_back(dims.feature);
    part.sizes[dims.feature] =
        isOut ? tensor::getMixedSize(item.builder, item.loc, op.getValue(),
                                     op.valueDims().feature)
              : getAsOpFoldResult(item.keyLength);
  }
  return part;
}

/// The results of the loop, which is replaced by one that does not carry the
/// unwanted ones: each result that a loop carries must be inserted into.
static SmallVector<Value> withoutResults(OpBuilder &b, scf::ForallOp loop,
                                         const llvm::BitVector &unwanted) {
  if (unwanted.none())
    return SmallVector<Value>(loop.getResults());
  SmallVector<Value> wanted;
  llvm::BitVector arguments(loop.getBody()->getNumArguments());
  for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    if (unwanted[i]) {
      argument.replaceAllUsesWith(loop.getOutputs()[i]);
      arguments.set(argument.getArgNumber());
    } else {
      wanted.push_back(loop.getOutputs()[i]);
    }
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop);
  auto smaller =
      scf::ForallOp::create(b, loop.getLoc(), loop.getMixedUpperBound(), wanted,
                            /*mapping=*/std::nullopt);
  smaller.getRegion().takeBody(loop.getRegion());
  smaller.getBody()->eraseArguments(arguments);
  SmallVector<Value> results(loop.getOutputs());
  unsigned next = 0;
  for (auto [i, result] : llvm::enumerate(results))
    if (!unwanted[i])
      result = smaller.getResult(next++);
  loop.erase();
  return results;
}

SmallVector<Value> attn::emitResults(
    OpBuilder &b, Location loc, ArrayRef<OpFoldResult> bounds,
    ArrayRef<Value> destinations,
    function_ref<AttentionItem(ArrayRef<Value>)> itemOf,
    function_ref<SmallVector<Value>(AttentionItem &, ArrayRef<Value>,
                                    ArrayRef<Value>)>
        compute) {
  auto loop = scf::ForallOp::create(b, loc, bounds, destinations,
                                    /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> indices = loop.getInductionVars();
  AttentionItem item = itemOf(indices);
  SmallVector<ResultPart> parts;
  SmallVector<Value> ofItem;
  for (auto [i, result] : llvm::enumerate(loop.getRegionIterArgs())) {
    ResultPart &part = parts.emplace_back(resultPart(item, i));
    ofItem.push_back(item.slice(result, part.offsets, part.sizes, part.kept));
  }
  SmallVector<Value> computed = compute(item, indices, ofItem);
  b.setInsertionPointToEnd(loop.getTerminator().getBody());
  llvm::BitVector unwanted(destinations.size());
  for (auto [i, part] : llvm::enumerate(parts)) {
    if (computed[i] == ofItem[i]) {
      unwanted.set(i);
      continue;
    }
    SmallVector<OpFoldResult> strides(part.offsets.size(), item.index(1));
    tensor::ParallelInsertSliceOp::create(b, loc, computed[i],
                                          loop.getRegionIterArgs()[i],
                                          part.offsets, part.sizes, strides);
  }
  return withoutResults(b, loop, unwanted);
}

Value attn::emitStates(
    OpBuilder &b, Location loc, Type element, ArrayRef<OpFoldResult> shape,
    ArrayRef<OpFoldResult> bounds,
    function_ref<StatesOfItem(ArrayRef<Value>)> itemOf,
    function_ref<Value(AttentionItem &, ArrayRef<Value>, Value)> save) {
  Value empty = tensor::EmptyOp::create(b, loc, shape, element);
  auto loop = scf::ForallOp::create(b, loc, bounds, ValueRange(empty),
                                    /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> indices = loop.getInductionVars();
  StatesOfItem states = itemOf(indices);
  OpFoldResult one = b.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets{indices[0], indices[1], states.part,
                                    getAsOpFoldResult(states.firstRow),
                                    b.getIndexAttr(0)},
      sizes{one, one, one, getAsOpFoldResult(states.rows), shape.back()},
      strides(5, one);
  Value all = loop.getRegionIterArgs().front();
  Value ofItem = states.item.slice(all, offsets, sizes, {3, 4});
  Value saved = save(states.item, indices, ofItem);
  b.setInsertionPointToEnd(loop.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(b, loc, saved, all, offsets, sizes,
                                        strides);
  return loop.getResult(0);
}

SmallVector<Value> attn::combineParts(AttentionItem &item, Value parts,
                                      ArrayRef<Value> results,
                                      ScheduleInterface schedule) {
  SdpaOp op = item.op;
  SmallVector<Value> combined(results);
  size_t count = op.getLse() ? 2 : 1;
  if (needsOut(op)) {
    auto finished = CombineOp::create(
        item.builder, item.loc,
        ValueRange(results.take_front(count)).getTypes(), parts, item.sink(),
        results[0], op.getLse() ? results[1] : Value(), schedule);
    llvm::copy(finished.getResults(), combined.begin());
  }
  if (op.getAcc()) {
    ArrayRef<Value> rows = results.take_back(3);
    auto state = CombineStateOp::create(item.builder, item.loc,
                                        ValueRange(rows).getTypes(), parts,
                                        rows[0], rows[1], rows[2], schedule);
    llvm::copy(state.getResults(), combined.begin() + count);
  }
  return combined;
}

bool attn::needsOut(SdpaOp op) {
  return !op.getAcc() || op.getLse() || !op.getOut().use_empty();
}

Value attn::headGroup(OpBuilder &b, Location loc, SdpaOp op) {
  if (op.queryDims().head < 0)
    return {};
  int64_t queryHeads = op.getQuery().getType().getDimSize(op.queryDims().head);
  int64_t keyHeads = op.getKey().getType().getDimSize(op.keyDims().head);
  bool known = !ShapedType::isDynamic(queryHeads) &&
               !ShapedType::isDynamic(keyHeads) && keyHeads > 0;
  bool unknown =
      ShapedType::isDynamic(queryHeads) && ShapedType::isDynamic(keyHeads);
  if (unknown || (known && queryHeads == keyHeads)) // there are no groups
    return {};
  if (known)
    return arith::ConstantIndexOp::create(b, loc, queryHeads / keyHeads);
  Value q = tensor::DimOp::create(b, loc, op.getQuery(), op.queryDims().head);
  Value k = tensor::DimOp::create(b, loc, op.getKey(), op.keyDims().head);
  // No key heads: there is no item either, but the division stays defined.
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value some = arith::MaxUIOp::create(b, loc, k, one);
  Value group = arith::DivUIOp::create(b, loc, q, some);
  return arith::MaxUIOp::create(b, loc, group, one);
}

Value attn::sizeOf(OpBuilder &builder, Location loc, Value tensor, int dim) {
  if (dim < 0)
    return arith::ConstantIndexOp::create(builder, loc, 1);
  return getValueOrCreateConstantIndexOp(
      builder, loc, tensor::getMixedSize(builder, loc, tensor, dim));
}
