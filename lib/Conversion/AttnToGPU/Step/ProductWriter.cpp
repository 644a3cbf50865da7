// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Features are taken part by part: while one is multiplied, the next is on its
// way to the other stage's buffers.
//
//   %sums = tile.splat 0, or the bias
//   %a0, %b0 = tile.copy_async part 0 to stage 0
//   scf.for pairs of parts {
//     wait for stage 0, and release stage 1; copy the next part there
//     %sums = tile.mma %a0, %b0, %sums
//     // the same with stages 1 and 0
//   }
//   // parts that are left, of which the last may have fewer features: what a
//   // buffer has beyond these is 0
//   tile.store %sums // or, with an epilogue, what it computes of them
//
// One barrier per part: what waits for the copies of all threads also says
// that all have read the other stage.
#include "ProductWriter.h"
#include "StateResults.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attn;
using namespace attn::gpucode;
using tile::BufferState;

ProductWriter::Stage ProductWriter::free(int stage) {
  return {tile::BufferOp::create(b, loc, plan.input[stage]),
          tile::BufferOp::create(b, loc, plan.weight[stage])};
}

/// Free buffers in the state of such that were copied, or read.
ProductWriter::Stage ProductWriter::enter(int stage, Stage room,
                                          BufferState state) {
  auto one = [&](tile::BufferType type, Value buffer) -> Value {
    return tile::EnterOp::create(b, loc, type.in(state), buffer);
  };
  return {one(plan.input[stage], room.input),
          one(plan.weight[stage], room.weight)};
}

/// `count` features of a matrix from `begin` on, which are its columns, or its
/// rows.
static Value part(OpBuilder &b, Location loc, Value matrix, bool ofRows,
                  Value begin, int64_t count) {
  SmallVector<OpFoldResult> offsets(2, b.getIndexAttr(0)),
      sizes = memref::getMixedSizes(b, loc, matrix),
      strides(2, b.getIndexAttr(1));
  offsets[!ofRows] = begin;
  sizes[!ofRows] = b.getIndexAttr(count);
  return memref::SubViewOp::create(b, loc, matrix, offsets, sizes, strides);
}

/// Copies a part into buffers of a stage.
ProductWriter::Stage ProductWriter::copy(int stage, Value begin, int64_t count,
                                         Stage room) {
  auto copyOne = [&](Value matrix, bool ofRows, tile::BufferType type,
                     Value buffer) -> Value {
    return tile::CopyAsyncOp::create(b, loc, type.in(BufferState::Loading),
                                     part(b, loc, matrix, ofRows, begin, count),
                                     t.index(0), buffer);
  };
  return {
      copyOne(op.getInput(), /*ofRows=*/false, plan.input[stage], room.input),
      copyOne(op.getWeight(), !op.getTransposed(), plan.weight[stage],
              room.weight)};
}

/// The bias in all rows, or 0. Columns behind the last one have its.
Value ProductWriter::firstSums() {
  Value zeros = t.splat(plan.sums, t.real(0.0));
  Value bias = op.getBias();
  if (!bias)
    return zeros;
  auto place = tile::PlaceOp::create(b, loc, plan.sums);
  int64_t count = cast<ShapedType>(bias.getType()).getDimSize(0);
  return t.map(plan.sums, zeros,
               [&](TileBuilder &m, ValueRange, Value, Value column) -> Value {
                 Value at =
                     arith::AddIOp::create(m.b, loc, place.getColumn(), column);
                 at = arith::MinUIOp::create(m.b, loc, at, m.index(count - 1));
                 Value own = memref::LoadOp::create(m.b, loc, bias, at);
                 if (own.getType() == m.b.getF32Type())
                   return own;
                 return arith::ExtFOp::create(m.b, loc, m.b.getF32Type(), own);
               });
}

Value ProductWriter::multiply(Stage full, Value sums) {
  bool rounded = plan.weight[0].getElement().isF32();
  return tile::MmaOp::create(b, loc, full.input, full.weight,
                             op.getTransposed(), rounded, sums);
}

/// The part from `begin` on, if there is one, which may be the last and have
/// fewer features.
ProductWriter::Stage ProductWriter::copyIfAny(int stage, Value begin,
                                              Stage room) {
  int64_t rest = op.getDepth() % plan.depth;
  Value whole = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, begin,
                                      t.index(op.getDepth() - rest));
  SmallVector<Type> types{plan.input[stage].in(BufferState::Loading),
                          plan.weight[stage].in(BufferState::Loading)};
  auto choice = scf::IfOp::create(b, loc, types, whole, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, loc, copy(stage, begin, plan.depth, room).both());
  b.setInsertionPointToStart(choice.elseBlock());
  Stage other = rest > 0 ? copy(stage, begin, rest, room)
                         : enter(stage, room, BufferState::Loading);
  scf::YieldOp::create(b, loc, other.both());
  return {choice.getResult(0), choice.getResult(1)};
}

/// Adds twice as many parts as `pairs`, all of them whole; the part behind
/// these is `loading` in the end.
Value ProductWriter::addPairs(int64_t pairs, Value sums, Stage &loading,
                              Stage &full) {
  SmallVector<Value> taken{sums, loading.input, loading.weight, full.input,
                           full.weight};
  auto loop =
      scf::ForOp::create(b, loc, t.index(0), t.index(pairs), t.index(1), taken);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  ValueRange x = loop.getRegionIterArgs();
  Stage next{x[1], x[2]}, last{x[3], x[4]};
  sums = x[0];
  Value begin = arith::MulIOp::create(b, loc, loop.getInductionVar(),
                                      t.index(2 * plan.depth));
  for (int stage = 0; stage < 2; ++stage) {
    auto begun = t.sync(next.both(), last.both());
    Stage now{begun.getFull()[0], begun.getFull()[1]},
        room{begun.getFree()[0], begun.getFree()[1]};
    begin = arith::AddIOp::create(b, loc, begin, t.index(plan.depth));
    next = stage == 0 ? copy(1, begin, plan.depth, room)
                      : copyIfAny(0, begin, room);
    sums = multiply(now, sums);
    last = now;
  }
  scf::YieldOp::create(
      b, loc,
      ValueRange{sums, next.input, next.weight, last.input, last.weight});
  ValueRange results = loop.getResults();
  loading = {results[1], results[2]};
  full = {results[3], results[4]};
  return results[0];
}

/// The epilogue of an element in a row and a column, which is in the product's
/// type.
static Value emitEpilogue(OpBuilder &b, ProjectBlockOp op, Value element,
                          ArrayRef<Value> place) {
  Block *epilogue = op.getEpilogueBlock();
  IRMapping values;
  values.map(epilogue->getArgument(0), element);
  for (auto [capture, argument] : llvm::zip_equal(
           op.getCaptures(), epilogue->getArguments().drop_front())) {
    int64_t rank = cast<ShapedType>(capture.getType()).getRank();
    values.map(argument, memref::LoadOp::create(b, op.getLoc(), capture,
                                                place.take_back(rank)));
  }
  for (Operation &inner : epilogue->without_terminator())
    b.clone(inner, values);
  return values.lookupOrDefault(epilogue->getTerminator()->getOperand(0));
}

/// The sums with an epilogue, in registers. Rows and columns that out does not
/// have are computed from those of the last.
Value ProductWriter::endSums(Value sums) {
  auto place = tile::PlaceOp::create(b, loc, plan.sums);
  auto last = [&](unsigned dim) -> Value {
    return arith::SubIOp::create(
        b, loc, memref::DimOp::create(b, loc, op.getOut(), dim), t.index(1));
  };
  Value ends[] = {last(0), last(1)};
  Type element = op.getEpilogueBlock()->getArgument(0).getType();
  return t.map(
      plan.sums, sums,
      [&](TileBuilder &m, ValueRange own, Value row, Value column) {
        Value at[] = {place.getRow(), place.getColumn()};
        Value distances[] = {row, column};
        for (int dim = 0; dim < 2; ++dim) {
          at[dim] = arith::AddIOp::create(m.b, loc, at[dim], distances[dim]);
          at[dim] = arith::MinUIOp::create(m.b, loc, at[dim], ends[dim]);
        }
        auto convert = [&](Value x, Type type) {
          return convertScalarToDtype(m.b, loc, x, type, false);
        };
        return convert(emitEpilogue(m.b, op, convert(own[0], element), at),
                       m.b.getF32Type());
      });
}

/// The same element by element, through memory: one piece of code for all.
void ProductWriter::storeEach(Value sums, ValueRange free) {
  tile::BufferType type = *plan.ending;
  Value through = type.getOffset() == 0
                      ? tile::ReuseOp::create(b, loc, type, free).getResult()
                      : tile::BufferOp::create(b, loc, type).getResult();
  auto store = tile::StoreEachOp::create(b, loc, sums, op.getOut(), through);
  Type index = b.getIndexType();
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(
      &store.getBody(), {}, {type.getElement(), index, index}, {loc, loc, loc});
  Value place[] = {body->getArgument(1), body->getArgument(2)};
  tile::YieldOp::create(b, loc,
                        emitEpilogue(b, op, body->getArgument(0), place));
}

/// Through the buffers, where they have room for all.
void ProductWriter::store(Value sums, ValueRange free) {
  if (plan.ending)
    return storeEach(sums, free);
  if (op.getEpilogueBlock())
    sums = endSums(sums);
  Type element = getElementTypeOrSelf(op.getOut().getType());
  Value through;
  if (std::optional<tile::BufferType> results = plan.results(element))
    through = tile::ReuseOp::create(b, loc, *results, free);
  tile::StoreOp::create(b, loc, sums, op.getOut(), through);
}

void ProductWriter::write() {
  int64_t features = op.getDepth(), pairs = features / plan.depth / 2;
  auto countOf = [&](int64_t begin) {
    return std::min(plan.depth, features - begin);
  };
  Value sums = firstSums();
  Stage loading = copy(0, t.index(0), countOf(0), free(0));
  Stage full = enter(1, free(1), BufferState::Full);
  if (pairs > 0)
    sums = addPairs(pairs, sums, loading, full);
  int stage = 0;
  for (int64_t begin = 2 * pairs * plan.depth; begin < features;
       begin += plan.depth, stage = 1 - stage) {
    auto begun = t.sync(loading.both(), full.both());
    full = {begun.getFull()[0], begun.getFull()[1]};
    Stage room{begun.getFree()[0], begun.getFree()[1]};
    int64_t next = begin + plan.depth;
    if (next < features)
      loading = copy(1 - stage, t.index(next), countOf(next), room);
    else
      loading = enter(1 - stage, room, BufferState::Loading);
    sums = multiply(full, sums);
  }
  // Nothing is on its way to the stage that is next.
  auto last = t.sync(loading.both(), {});
  SmallVector<Value> all(last.getFull());
  all.insert(stage == 0 ? all.end() : all.begin(), {full.input, full.weight});
  store(sums, t.sync({}, all).getFree());
}
