// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys and values whose rows push each other out of the cache are copied once.
//
// Before:  scf.forall (%b, %h, %t) in (%B, 16, %tiles) {
//            %k_head = memref.subview %k[%b, 0, %h, 0] .. // rows 4096 bytes
//            apart attn.online %s, %k_tile, ..
//          }
// After:   %bad = (rows of %k share too few sets of the cache)
//          %copy = memref.alloc(%bad ? %B : 0, ..)  // head by head
//          scf.forall (%b, %h) in (%bad ? %B : 0, 16) { memref.copy .. }
//          %compact = scf.if %bad { %copy } else { %k }
//          scf.forall (%b, %h, %t) in (%B, 16, %tiles) {
//            %k_head = memref.subview %compact[%b, 0, %h, 0] ..
//          }
//
// A level-1 cache has 4096 bytes per way: rows a large power of two apart fall
// into few of its sets, and a tile of keys does not stay there. A copy of the
// whole head is read by all its query tiles, and costs 1 % at 2048 queries;
// without it, rows 4096 bytes apart cost 40 % (docs/Experiments.md). The caller
// chooses strides at run time, so does the code, and the work space counts the
// copies only where they are made.
//
// Before: tile ops on buffers. After: the same.
#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attn {
#define GEN_PASS_DEF_COMPACTROWS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// The ways of the smallest level-1 cache that we know, their bytes, and the
/// queries for which a copy pays.
static constexpr int64_t wayBytes = 4096, ways = 8, manyQueries = 256;

namespace {
/// Heads of a tensor outside of a parallel loop, cut out inside.
struct HeadSource {
  memref::SubViewOp head; ///< a matrix (keys x features) of `source`
  Value queryLength;
  int64_t keyTile;
  OpFoldResult batches; ///< of the loop; 0 where lengths choose another loop
};

struct Compactor {
  OpBuilder b;
  Location loc;

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value greater(Value left, Value right) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, left,
                                 right);
  }
  Value mustCopy(const HeadSource &source, Value stride, int64_t rowBytes,
                 int64_t elementBytes);
  Value compact(HeadSource &source);
  Value copyHeads(Value from, Value bad, int64_t sequence,
                  MemRefType generalType);
};
} // namespace

/// Whether rows `stride` elements apart share so few sets that a tile of keys
/// does not fit, and there are items with enough queries to pay for a copy.
Value Compactor::mustCopy(const HeadSource &source, Value stride,
                          int64_t rowBytes, int64_t elementBytes) {
  Value bytes = arith::MulIOp::create(b, loc, stride, constant(elementBytes));
  Value negative = arith::SubIOp::create(b, loc, constant(0), bytes);
  Value lowestBit = arith::AndIOp::create(b, loc, bytes, negative);
  Value apart = arith::MinSIOp::create(b, loc, lowestBit, constant(wayBytes));
  Value gaps = greater(apart, constant(rowBytes));
  Value full = greater(apart, constant(wayBytes * ways / source.keyTile));
  Value many = greater(source.queryLength, constant(manyQueries - 1));
  Value both = arith::AndIOp::create(b, loc, gaps, full);
  if (auto batches = dyn_cast<Value>(source.batches))
    many = arith::AndIOp::create(b, loc, many, greater(batches, constant(0)));
  return arith::AndIOp::create(b, loc, both, many);
}

/// All heads of `from`, keys next to each other; of batch 0 unless `bad`.
Value Compactor::copyHeads(Value from, Value bad, int64_t sequence,
                           MemRefType generalType) {
  auto type = cast<MemRefType>(from.getType());
  int64_t rank = type.getRank();
  SmallVector<unsigned> order; // of the copy: the sequence last but one
  for (int64_t dim = 0; dim < rank - 1; ++dim)
    if (dim != sequence)
      order.push_back(dim);
  order.append({unsigned(sequence), unsigned(rank - 1)});
  SmallVector<Value> sizes;
  SmallVector<int64_t> shape;
  for (unsigned dim : order) {
    Value size = memref::DimOp::create(b, loc, from, dim);
    if (sizes.empty())
      size = arith::SelectOp::create(b, loc, bad, size, constant(0));
    sizes.push_back(size);
    bool known = shape.size() == size_t(rank - 1) && !type.isDynamicDim(dim);
    shape.push_back(known ? type.getDimSize(dim) : ShapedType::kDynamic);
  }
  Value features = sizes.back();
  bool staticFeatures = !ShapedType::isDynamic(shape.back());
  SmallVector<Value> dynamic(sizes.begin(), sizes.end() - staticFeatures);
  Value copy = memref::AllocOp::create(
      b, loc, MemRefType::get(shape, type.getElementType()), dynamic,
      b.getI64IntegerAttr(64));
  SmallVector<int64_t> back(rank); // the order of `from`
  for (auto [i, dim] : llvm::enumerate(order))
    back[dim] = i;
  auto permutation = AffineMap::getPermutationMap(back, b.getContext());
  Value view = memref::TransposeOp::create(b, loc, copy,
                                           AffineMapAttr::get(permutation));
  Value general = memref::CastOp::create(b, loc, generalType, view);
  SmallVector<OpFoldResult> bounds(sizes.begin(), sizes.end() - 2);
  auto forall = scf::ForallOp::create(b, loc, bounds, ValueRange(),
                                      /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forall.getBody());
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)),
      extents(rank, b.getIndexAttr(1)), strides(rank, b.getIndexAttr(1));
  for (auto [iv, dim] : llvm::zip(forall.getInductionVars(), order))
    offsets[dim] = iv;
  extents[sequence] = sizes[rank - 2];
  extents[rank - 1] =
      staticFeatures ? OpFoldResult(b.getIndexAttr(shape.back())) : features;
  Value row =
      memref::SubViewOp::create(b, loc, from, offsets, extents, strides);
  Value target =
      memref::SubViewOp::create(b, loc, general, offsets, extents, strides);
  memref::CopyOp::create(b, loc, row, target);
  return general;
}

/// The tensor or its copy, with strides that are known at run time only.
Value Compactor::compact(HeadSource &source) {
  Value from = source.head.getSource();
  auto type = cast<MemRefType>(from.getType());
  llvm::SmallBitVector dropped = source.head.getDroppedDims();
  int64_t rank = type.getRank(), sequence = 0;
  while (dropped.test(sequence))
    ++sequence;
  SmallVector<int64_t> strides(rank, ShapedType::kDynamic);
  strides.back() = 1;
  auto generalType = MemRefType::get(
      type.getShape(), type.getElementType(),
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, strides));
  int64_t elementBytes = type.getElementTypeBitWidth() / 8;
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, from);
  Value bad = mustCopy(source, metadata.getStrides()[sequence],
                       type.getShape().back() * elementBytes, elementBytes);
  Value copy = copyHeads(from, bad, sequence, generalType);
  Value original =
      type == generalType
          ? from
          : memref::CastOp::create(b, loc, generalType, from).getResult();
  return arith::SelectOp::create(b, loc, bad, copy, original);
}

/// Replaces `old` by `value` in its users; views of it get the types that
/// follow.
static void replaceViews(Value old, Value value) {
  for (Operation *user : llvm::make_early_inc_range(old.getUsers())) {
    auto view = dyn_cast<memref::SubViewOp>(user);
    if (!view) {
      user->replaceUsesOfWith(old, value);
      continue;
    }
    auto type = memref::SubViewOp::inferRankReducedResultType(
        view.getType().getShape(), cast<MemRefType>(value.getType()),
        view.getMixedOffsets(), view.getMixedSizes(), view.getMixedStrides());
    OpBuilder b(view);
    Value next = memref::SubViewOp::create(
        b, view.getLoc(), cast<MemRefType>(type), value, view.getMixedOffsets(),
        view.getMixedSizes(), view.getMixedStrides());
    replaceViews(view, next);
    view.erase();
  }
}

/// The view of a head that `tile` is cut from, if that is a part of a tensor
/// from outside the loop.
static memref::SubViewOp headOf(Value tile, scf::ForallOp loop) {
  auto view = tile.getDefiningOp<memref::SubViewOp>();
  while (view && !loop.isDefinedOutsideOfLoop(view.getSource()))
    view = view.getSource().getDefiningOp<memref::SubViewOp>();
  if (!view || view.getDroppedDims().none() || view.getType().getRank() != 2 ||
      view.getSourceType().isDynamicDim(view.getSourceType().getRank() - 1))
    return {};
  return view;
}

namespace {
struct CompactRows : attn::impl::CompactRowsBase<CompactRows> {
  void runOnOperation() override {
    SmallVector<scf::ForallOp> loops;
    getOperation()->walk([&](scf::ForallOp loop) { loops.push_back(loop); });
    for (scf::ForallOp loop : loops)
      compact(loop);
  }

  void compact(scf::ForallOp loop) {
    llvm::MapVector<Operation *, HeadSource> heads;
    loop.walk([&](OnlineOp op) {
      if (op.getSchedule().getKind() != Kind::Prefill)
        return;
      APInt known;
      bool few = matchPattern(op.getQueryLength(), m_ConstantInt(&known)) &&
                 known.getSExtValue() < manyQueries;
      if (few || !loop.isDefinedOutsideOfLoop(op.getQueryLength()))
        return;
      SmallVector<Value> tiles{op.getKey(), op.getValue()};
      if (Value second = op.getSecondKey())
        tiles.push_back(second);
      for (Value tile : tiles)
        if (memref::SubViewOp head = headOf(tile, loop))
          heads.try_emplace(head,
                            HeadSource{head, op.getQueryLength(),
                                       op.getSchedule().getKeyTile(),
                                       loop.getMixedUpperBound().front()});
    });
    for (auto &[op, source] : heads) {
      Compactor compactor{OpBuilder(loop), loop.getLoc()};
      Value compacted = compactor.compact(source);
      memref::SubViewOp head = source.head;
      auto type = memref::SubViewOp::inferRankReducedResultType(
          head.getType().getShape(), cast<MemRefType>(compacted.getType()),
          head.getMixedOffsets(), head.getMixedSizes(), head.getMixedStrides());
      OpBuilder b(head);
      Value view = memref::SubViewOp::create(
          b, head.getLoc(), cast<MemRefType>(type), compacted,
          head.getMixedOffsets(), head.getMixedSizes(), head.getMixedStrides());
      replaceViews(head, view);
      head.erase();
    }
  }
};
} // namespace
