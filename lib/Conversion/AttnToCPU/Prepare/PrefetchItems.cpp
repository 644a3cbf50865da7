// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an item touches once comes into the cache while the item before works.
//
// Before:  scf.forall (%b, %h, %t) in (%B, 96, %tiles) {
//            %q = memref.subview %query[%b, %h, %t ..]
//            %s = attn.init_state %q
//            scf.for .. { attn.online .. mode full }
//            %o = memref.subview %out[%b, %h, %t ..]
//            attn.finalize .. outs(%o)
//          }
// After:   scf.forall (%b, %h, %t) in (%B, 96, %tiles) {
//            %q = memref.subview %query[%b, %h, %t ..]
//            %s = attn.init_state %q
//            %q1 = memref.subview %query[%b1, %h1, %t1 ..]
//            %k1 = memref.subview %key[%b1, %h1, 0 ..]
//            %o1 = memref.subview %out[%b, %h, %t ..]
//            scf.for .. { attn.online .. mode full prefetch %q1, %k1, %o1 }
//            ..
//
// A kernel prefetches values while it computes a tile's scores, and the keys of
// the tile behind it. Queries are read and results written only once, and in
// front of the first keys there is no tile; so a short item waits for them:
// with 128 queries and as many keys, 96 heads, for 6 % of its time. %b1, %h1
// and %t1 are the item that has this one's number plus the number of threads,
// which is about what the same thread has next. Results of another item are not
// touched: its thread may be writing them. With more than 1024 keys the views
// have no rows.
//
// Before: tile ops on buffers, in a kernel with a number of threads
// (attn-lower-signature). After: the same.
#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Interface/KernelSignature.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace attn {
#define GEN_PASS_DEF_PREFETCHITEMS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// `value` as it is for what `mapping` says: clones the ops of the loop's body
/// that it comes from. Null if one of them has regions, or effects other than
/// reading a number: of an item that exists, it can be read.
static Value recompute(OpBuilder &b, Value value, scf::ForallOp loop,
                       IRMapping &mapping) {
  if (loop.isDefinedOutsideOfLoop(value) || mapping.contains(value))
    return mapping.lookupOrDefault(value);
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() ||
      !(isMemoryEffectFree(op) || isa<memref::LoadOp>(op)))
    return {};
  for (Value operand : op->getOperands())
    if (!recompute(b, operand, loop, mapping))
      return {};
  b.clone(*op, mapping);
  return mapping.lookup(value);
}

/// The item that the same thread is likely to have next, or the last one.
static SmallVector<Value> nextItem(OpBuilder &b, scf::ForallOp loop,
                                   Value threads) {
  Location loc = loop.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  SmallVector<Value> bounds;
  for (OpFoldResult bound : loop.getMixedUpperBound())
    bounds.push_back(getValueOrCreateConstantIndexOp(b, loc, bound));
  Value number = constant(0), count = constant(1);
  for (auto [index, bound] : llvm::zip(loop.getInductionVars(), bounds)) {
    Value scaled = arith::MulIOp::create(b, loc, number, bound);
    number = arith::AddIOp::create(b, loc, scaled, index);
    count = arith::MulIOp::create(b, loc, count, bound);
  }
  Value step = arith::MaxSIOp::create(b, loc, threads, constant(1));
  number = arith::AddIOp::create(b, loc, number, step);
  Value last = arith::SubIOp::create(b, loc, count, constant(1));
  number = arith::MinSIOp::create(b, loc, number, last);
  SmallVector<Value> indices(bounds.size());
  for (size_t i = bounds.size(); i-- > 1;) {
    indices[i] = arith::RemUIOp::create(b, loc, number, bounds[i]);
    number = arith::DivUIOp::create(b, loc, number, bounds[i]);
  }
  indices[0] = number;
  return indices;
}

/// The first op of a kind in a loop, or null.
template <typename Op> static Op firstOf(scf::ForallOp loop) {
  Op found;
  loop.walk([&](Op op) {
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

/// Where the items of the loop write their rows; null if they save a state.
static Value resultOf(scf::ForallOp loop) {
  if (auto finalize = firstOf<FinalizeOp>(loop))
    return finalize.getOut();
  if (auto finalize = firstOf<FinalizeDifferenceOp>(loop))
    return finalize.getOut();
  return {};
}

/// The keys that tiles are cut from, where the state begins; or null.
static Value keysOf(scf::ForallOp loop, InitStateOp init) {
  auto online = firstOf<OnlineOp>(loop);
  Value keys = online ? online.getKey() : Value();
  while (keys && !loop.isDefinedOutsideOfLoop(keys) &&
         keys.getParentBlock() != init->getBlock()) {
    auto view = keys.getDefiningOp<memref::SubViewOp>();
    keys = view ? view.getSource() : Value();
  }
  return keys;
}

/// All rows of a matrix, or none where there are many keys: a long item waits
/// for a hundredth of its time or less, and needs the room in the cache itself.
static Value rowsIfFew(OpBuilder &b, Value matrix, Value keys) {
  constexpr int64_t manyKeys = 1024;
  Location loc = matrix.getLoc();
  Value most = arith::ConstantIndexOp::create(b, loc, manyKeys);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value count = memref::DimOp::create(b, loc, keys, 0);
  Value few =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, count, most);
  Value all = memref::DimOp::create(b, loc, matrix, 0);
  Value rows = arith::SelectOp::create(b, loc, few, all, zero);
  int64_t columns = cast<MemRefType>(matrix.getType()).getDimSize(1);
  SmallVector<OpFoldResult> offsets(2, b.getIndexAttr(0)),
      sizes{rows, b.getIndexAttr(columns)}, strides(2, b.getIndexAttr(1));
  return memref::SubViewOp::create(b, loc, matrix, offsets, sizes, strides);
}

static void prefetchItems(scf::ForallOp loop, Value threads) {
  auto init = firstOf<InitStateOp>(loop);
  if (!init || init.getType().getKind() != Kind::Prefill)
    return;
  OpBuilder b(loop.getContext());
  b.setInsertionPointAfter(init);
  IRMapping next, same;
  for (auto [index, value] :
       llvm::zip(loop.getInductionVars(), nextItem(b, loop, threads))) {
    next.map(index, value);
    same.map(index, index);
  }
  Value keys = keysOf(loop, init);
  Value nextKeys = keys ? recompute(b, keys, loop, next) : Value();
  SmallVector<Value> prefetched;
  auto add = [&](Value matrix, IRMapping &mapping) {
    if (cast<ShapedType>(matrix.getType()).isDynamicDim(1))
      return;
    if (Value view = recompute(b, matrix, loop, mapping))
      prefetched.push_back(nextKeys ? rowsIfFew(b, view, nextKeys) : view);
  };
  add(init.getQuery(), next);
  if (nextKeys)
    add(keys, next);
  // An item that saves its state names the queries twice, so that it shares
  // kernels with those that have a result.
  if (Value result = resultOf(loop))
    add(result, same);
  else
    add(init.getQuery(), next);
  // In a loop of the user's, which may have several states, those behind it.
  loop.walk([&](OnlineOp op) {
    Operation *user = init->getBlock()->findAncestorOpInBlock(*op);
    if (user && init->isBeforeInBlock(user))
      op.getPrefetchMutable().assign(prefetched);
  });
}

namespace {
struct PrefetchItems : attn::impl::PrefetchItemsBase<PrefetchItems> {
  void runOnOperation() override {
    std::optional<KernelSignature> kernel = KernelSignature::of(getOperation());
    if (!kernel)
      return;
    getOperation().walk(
        [&](scf::ForallOp loop) { prefetchItems(loop, kernel->getThreads()); });
  }
};
} // namespace
