// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-vectorize-linalg: linalg ops on buffers become parallel loops over rows
// of vector code.
//
// Before:  linalg.fill ins(%zero) outs(%sum : memref<?xf32>)
//          linalg.generic {iterators = ["parallel", "reduction"]}
//            ins(%x : memref<?x768xf32>) outs(%sum)  // adds up
//          linalg.generic {iterators = ["parallel", "parallel"]}
//            ins(%x, %sum) outs(%y)                  // divides
// After:   scf.forall (%item) in (%items) {
//            scf.for %row = .. {
//              scf.for %i = .. iter_args(%s0, %s1, %s2, %s3) {
//                // four vectors of %x are added
//              }
//              // the four, then their lanes: a number that needs no memory
//              scf.for %i = .. { // vectors of %x are divided and stored }
//            }
//          }
//
// Ops in a row that go through the same rows are one group: each may read, of
// what an earlier one wrote, only its own row. A group goes through its rows
// once; where its ops also have the same loop along the row, they share that,
// and hand each other vectors. A buffer that nothing else reads has one row of
// memory, or none.
//
// Lanes lie along the last dimension of what is written, or along what is
// added up, whichever makes more neighbours in memory. Sums along lanes are
// taken in four times as many parts as a vector has lanes, then part by part:
// always in the same order, whatever the number of threads. Sums of 16 bits are
// kept in f32 and rounded once.
//
// A copy that reads along another loop than it writes is no part of a group:
// TransposeEmitter.cpp.
//
// Groups of rows are parallel items of at least `item-elements` elements; less,
// and what is in a parallel item already, runs where it stands. With one, as
// for the threads of a GPU, every row is an item, or every element. Where
// something is added up along rows, `threads-of-row` items, which are the
// threads of a warp, share one: each has every so many elements, and shuffles
// give all of them the sum. What has no vector form goes number by number.
//
// Before: kernels on buffers; copies in parallel items, and fills of no whole
// rows, are parts of kernels and stay. After: no other linalg op and no
// memref.copy of strided buffers outside of parallel items.
#include "RowEmitter.h"
#include "TransposeEmitter.h"
#include "attn/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace attn {
#define GEN_PASS_DEF_VECTORIZELINALG
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn::cpu;

namespace {
/// Makes the loops of one group.
class GroupEmitter {
public:
  GroupEmitter(OpBuilder &b, RowGroup &group, VectorUnit unit,
               int64_t elementsPerItem)
      : b(b), group(group), unit(unit), elementsPerItem(elementsPerItem),
        loc(group.nests.back()->op.getLoc()) {}

  void emit();

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  template <typename Op> Value make(Value x, Value y) {
    return b.createOrFold<Op>(loc, x, y);
  }
  void measure();
  bool canCutRows() const;
  Value lanesPerPart(Value laneSize);
  void emitShared();
  void emitRows(RowEmitter &rows, Value from, Value to, const LaneRange *part);

  OpBuilder &b;
  RowGroup &group;
  VectorUnit unit;
  int64_t elementsPerItem;
  Location loc;
  SmallVector<Value> sizes; ///< of the loops of the group
  Value rows, rowElements;
};
} // namespace

/// Rows, and the elements of the longest one.
void GroupEmitter::measure() {
  for (unsigned i = 0; i < group.outer(); ++i) {
    const LoopNest &first = *group.nests.front();
    sizes.push_back(loopSize(b, first, first.parallel[i]));
  }
  rows = index(1);
  for (Value size : sizes)
    rows = make<arith::MulIOp>(rows, size);
  rowElements = index(1);
  for (const LoopNest *nest : group.nests) {
    Value elements = index(1);
    for (unsigned loop = 0; loop < nest->op.getNumLoops(); ++loop)
      if (!llvm::is_contained(
              ArrayRef(nest->parallel).take_front(group.outer()), loop))
        elements = make<arith::MulIOp>(elements, loopSize(b, *nest, loop));
    rowElements = make<arith::MaxUIOp>(rowElements, elements);
  }
}

static Value ceilDiv(OpBuilder &b, Location loc, Value x, Value y) {
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value less = b.createOrFold<arith::SubIOp>(loc, y, one);
  return b.createOrFold<arith::DivUIOp>(
      loc, b.createOrFold<arith::AddIOp>(loc, x, less), y);
}

/// How many rows of so many elements an item has.
static Value rowsPerItem(OpBuilder &b, Location loc, Value rowElements,
                         int64_t elementsPerItem) {
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value most = arith::ConstantIndexOp::create(b, loc, elementsPerItem);
  Value rows = b.createOrFold<arith::DivUIOp>(
      loc, most, b.createOrFold<arith::MaxUIOp>(loc, rowElements, one));
  return b.createOrFold<arith::MaxUIOp>(loc, rows, one);
}

/// Whether rows of so many elements run where `op` stands.
static bool isSequential(Operation *op, Value rows, Value rowElements,
                         int64_t elementsPerItem) {
  if (op->getParentOfType<scf::ForallOp>() ||
      op->getParentOfType<scf::ParallelOp>() ||
      op->getParentOfType<func::FuncOp>().getNumResults() > 0)
    return true;
  std::optional<int64_t> count = getConstantIntValue(rows),
                         elements = getConstantIntValue(rowElements);
  return elementsPerItem > 1 && count && elements &&
         *count * *elements <= elementsPerItem;
}

/// Whether parts of a row can be computed by themselves.
bool GroupEmitter::canCutRows() const {
  for (const LoopNest *nest : group.nests)
    if (nest->kind == NestKind::RowReduction || !hasLanes(*nest, group.outer()))
      return false;
  return group.steps.size() == 1 || group.mayCutLanes();
}

/// The rows from `from` up to `to`, numbered with the last loop fastest.
void GroupEmitter::emitRows(RowEmitter &emitter, Value from, Value to,
                            const LaneRange *part) {
  if (group.outer() == 0)
    return emitter.emit({}, part);
  auto loop = scf::ForOp::create(b, loc, from, to, index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> row(sizes.size());
  Value rest = loop.getInductionVar();
  for (size_t i = sizes.size(); i-- > 1;) {
    row[i] = make<arith::RemUIOp>(rest, sizes[i]);
    rest = make<arith::DivUIOp>(rest, sizes[i]);
  }
  row[0] = rest;
  emitter.emit(row, part);
}

/// As many lanes of a row as have the elements of an item, in whole lines of
/// memory. Threads of a GPU that lie side by side have neighbours.
Value GroupEmitter::lanesPerPart(Value laneSize) {
  const int64_t least = elementsPerItem > 1 ? 64 : 1;
  Value ofLane = make<arith::DivUIOp>(rowElements,
                                      make<arith::MaxUIOp>(laneSize, index(1)));
  Value number = make<arith::DivUIOp>(index(elementsPerItem),
                                      make<arith::MaxUIOp>(ofLane, index(1)));
  number = make<arith::MaxUIOp>(number, index(1));
  return make<arith::MulIOp>(ceilDiv(b, loc, number, index(least)),
                             index(least));
}

/// Threads of a warp share a row: they are items side by side. What is kept of
/// a row lies where it is in its buffer.
void GroupEmitter::emitShared() {
  for (const auto &[buffer, needsRow] : llvm::to_vector(group.locals))
    if (needsRow)
      group.locals.erase(buffer);
  RowEmitter emitter(b, group, unit);
  SmallVector<OpFoldResult> bounds{getAsOpFoldResult(rows),
                                   b.getIndexAttr(unit.threadsOfRow)};
  auto forall =
      scf::ForallOp::create(b, loc, bounds, ValueRange(), std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(forall.getTerminator());
  emitter.share(forall.getInductionVar(1));
  Value row = forall.getInductionVar(0);
  emitRows(emitter, row, make<arith::AddIOp>(row, index(1)), nullptr);
}

void GroupEmitter::emit() {
  group.plan();
  measure();
  RowEmitter emitter(b, group, unit);
  if (isSequential(group.nests.back()->op, rows, rowElements,
                   elementsPerItem)) {
    emitter.makeRows();
    return emitRows(emitter, index(0), rows, nullptr);
  }
  std::optional<int64_t> elements = getConstantIntValue(rowElements);
  if (unit.threadsOfRow > 1 && group.maySpreadLanes() &&
      (!elements || *elements >= unit.threadsOfRow))
    return emitShared();
  Value perItem = rowsPerItem(b, loc, rowElements, elementsPerItem);
  SmallVector<OpFoldResult> bounds{
      getAsOpFoldResult(ceilDiv(b, loc, rows, perItem))};
  bool cuts = canCutRows() && (!elements || *elements >= 2 * elementsPerItem);
  Value laneSize, perPart;
  if (cuts) {
    const LoopNest &first = *group.nests.front();
    laneSize = loopSize(b, first, first.lane);
    perPart = lanesPerPart(laneSize);
    bounds.push_back(getAsOpFoldResult(ceilDiv(b, loc, laneSize, perPart)));
  }
  auto forall =
      scf::ForallOp::create(b, loc, bounds, ValueRange(), std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(forall.getTerminator());
  Value from = make<arith::MulIOp>(forall.getInductionVar(0), perItem);
  Value to = make<arith::MinUIOp>(make<arith::AddIOp>(from, perItem), rows);
  emitter.makeRows();
  if (!cuts)
    return emitRows(emitter, from, to, nullptr);
  LaneRange part;
  part.begin = make<arith::MulIOp>(forall.getInductionVar(1), perPart);
  part.end =
      make<arith::MinUIOp>(make<arith::AddIOp>(part.begin, perPart), laneSize);
  emitRows(emitter, from, to, &part);
}

static void emitTransposed(OpBuilder &b, Operation *op, TransposeEmitter &copy,
                           int64_t elementsPerItem) {
  Location loc = op->getLoc();
  Value pieces = copy.pieces(), elements = copy.pieceElements();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  if (isSequential(op, pieces, elements, elementsPerItem))
    return copy.emit(zero, pieces);
  Value perItem = rowsPerItem(b, loc, elements, elementsPerItem);
  OpFoldResult items = getAsOpFoldResult(ceilDiv(b, loc, pieces, perItem));
  auto forall =
      scf::ForallOp::create(b, loc, items, ValueRange(), std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(forall.getTerminator());
  Value from =
      b.createOrFold<arith::MulIOp>(loc, forall.getInductionVar(0), perItem);
  Value to = b.createOrFold<arith::AddIOp>(loc, from, perItem);
  copy.emit(from, b.createOrFold<arith::MinUIOp>(loc, to, pieces));
}

/// Removes what only the group used.
static void eraseGroup(RowGroup &group) {
  for (LoopNest *nest : group.nests)
    nest->op.erase();
  for (auto [buffer, needsRow] : group.locals) {
    auto alloc = buffer.getDefiningOp<memref::AllocOp>();
    SmallVector<Operation *> users(buffer.getUsers());
    bool unused = true;
    for (Operation *user : users) {
      if (auto dim = dyn_cast<memref::DimOp>(user)) {
        std::optional<int64_t> i = dim.getConstantIndex();
        if (i && alloc.getType().isDynamicDim(*i)) {
          dim.replaceAllUsesWith(
              alloc.getDynamicSizes()[alloc.getType().getDynamicDimIndex(*i)]);
          dim.erase();
          continue;
        }
      }
      if (user->use_empty() && isPure(user)) {
        user->erase();
        continue;
      }
      unused = false;
    }
    if (unused)
      alloc.erase();
  }
}

/// Whether ops of a group may move over `op`.
static bool isTransparent(Operation &op) {
  return isa<memref::AllocOp>(op) || isMemoryEffectFree(&op);
}

/// Whether what is filled has rows of neighbours.
static bool fillsRows(Operation *fill) {
  auto type = dyn_cast<MemRefType>(fill->getOperand(1).getType());
  // A row of one number may have any stride.
  if (!type || type.getRank() == 0 || type.getShape().back() == 1)
    return false;
  auto [strides, offset] = type.getStridesAndOffset();
  return strides.back() == 1;
}

namespace {
struct VectorizeLinalg : attn::impl::VectorizeLinalgBase<VectorizeLinalg> {
  using VectorizeLinalgBase::VectorizeLinalgBase;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      bool isPart = op->getParentOfType<scf::ForallOp>() &&
                    (isa<memref::CopyOp>(op) ||
                     (isa<linalg::FillOp>(op) && !fillsRows(op)));
      auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
      if (linalgOp && !linalgOp.hasPureBufferSemantics())
        return;
      if (isa<linalg::LinalgOp, memref::CopyOp>(op) && !isPart)
        ops.push_back(op);
    });
    llvm::SetVector<Block *> blocks;
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops) {
      rewriter.setInsertionPoint(op);
      blocks.insert(op->getBlock());
      if (auto copy = dyn_cast<memref::CopyOp>(op)) {
        if (copy.getSource() != copy.getTarget())
          linalg::makeMemRefCopyOp(rewriter, op->getLoc(), copy.getSource(),
                                   copy.getTarget());
        rewriter.eraseOp(op);
      } else if (!isa<linalg::GenericOp>(op) &&
                 failed(linalg::generalizeNamedOp(
                     rewriter, cast<linalg::LinalgOp>(op)))) {
        op->emitOpError("cannot be written as linalg.generic");
        return signalPassFailure();
      }
    }
    for (Block *block : blocks)
      vectorize(*block);
  }

  void vectorize(Block &block) {
    std::deque<LoopNest> nests;
    std::deque<RowGroup> groups;
    bool open = false;
    VectorUnit unit{lanes, maskedBits, threadsOfRow};
    for (Operation &op : llvm::make_early_inc_range(block)) {
      auto generic = dyn_cast<linalg::GenericOp>(op);
      if (!generic || !generic.hasPureBufferSemantics()) {
        open &= isTransparent(op);
        continue;
      }
      LoopNest &nest = nests.emplace_back(generic);
      OpBuilder b(generic);
      if (auto copy = TransposeEmitter::match(b, nest, unit)) {
        emitTransposed(b, generic, *copy, itemElements);
        generic.erase();
        open = false;
        continue;
      }
      if (open && groups.back().join(nest))
        continue;
      groups.emplace_back().join(nest);
      open = true;
    }
    for (RowGroup &group : groups) {
      OpBuilder b(group.nests.back()->op);
      GroupEmitter(b, group, unit, itemElements).emit();
      eraseGroup(group);
    }
  }
};
} // namespace
