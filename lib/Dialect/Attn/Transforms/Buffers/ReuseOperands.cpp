// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise ops, products with an epilogue, and what merges states compute in
// the memory of an operand that nothing else reads.
//
// Before:  %e = tensor.empty(%n) : tensor<?x64xf32>
//          %y = linalg.generic ins(%gate, %up) outs(%e) { .. }
// After:   %y = linalg.generic ins(%gate, %up) outs(%gate) { .. }
//
// Before:  %y = scf.forall .. shared_outs(%o = %e) {
//            %g = tensor.extract_slice %gate[%i, 0] ..
//            %part = tensor.extract_slice %o[%i, 0] ..
//            attn.project_tile .. with %g epilogue { .. } outs(%part)
// After:   %y = scf.forall .. shared_outs(%o = %gate) {
//            %part = tensor.extract_slice %o[%i, 0] ..
//            attn.project_tile .. with %part epilogue { .. } outs(%part)
//
// Before:  %r = linalg.generic ins(%o, %x) outs(%o) { .. }
//          return %r, %o
// After:   %e = tensor.empty(%n) : tensor<?x64xf32>
//          %r = linalg.generic ins(%o, %x) outs(%e) { .. }
//          return %r, %o
//
// Upstream's conversion to linalg takes an operand's memory whoever else reads
// it. The elimination of empty tensors would then compute %o where the caller
// wants %r, from which it would be overwritten.
//
// Bufferization writes each element where it was read, if it can, and takes new
// memory otherwise. A result that a caller gets stays apart, since it is
// computed in the caller's memory. A product does so only if its weight comes
// in panels: with a matrix it may compute columns and rows twice.
//
// Before: tensors; elementwise ops are linalg ops. After: the same.
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace attn {
#define GEN_PASS_DEF_REUSEOPERANDS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Whether someone has memory for the value already.
static bool isPlaced(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<func::ReturnOp, tensor::InsertSliceOp,
               tensor::ParallelInsertSliceOp,
               bufferization::MaterializeInDestinationOp>(user) ||
           user->hasTrait<OpTrait::IsTerminator>();
  });
}

/// Whether `value` has memory of its own that another tensor of `type` can take
/// over.
static bool isOwned(Value value, Type type) {
  Operation *maker = value.getDefiningOp();
  return value.getType() == type && maker &&
         !maker->hasTrait<OpTrait::ConstantLike>() &&
         !isa<tensor::ExtractSliceOp, tensor::EmptyOp>(maker);
}

/// Whether `operand` may be overwritten by the result for `init`.
static bool fits(linalg::LinalgOp op, OpOperand &operand, OpOperand &init) {
  return isOwned(operand.get(), init.get().getType()) &&
         operand.get().hasOneUse() &&
         op.getMatchingIndexingMap(&operand).isIdentity() &&
         op.getMatchingIndexingMap(&init).isIdentity();
}

/// Whether someone may read the value behind `op`: directly, or as a part or
/// another shape of it.
static bool isReadBehind(Value value, Operation *op) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (user == op || isa<tensor::DimOp>(user))
      return false;
    Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*user);
    return !ancestor || !ancestor->isBeforeInBlock(op) ||
           isa<OffsetSizeAndStrideOpInterface, tensor::ExpandShapeOp,
               tensor::CollapseShapeOp, tensor::CastOp>(user);
  });
}

/// Gives the result memory of its own where its operand's is still needed.
static void separate(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics())
    return;
  OpOperand &init = op.getDpsInitsMutable()[0];
  Operation *maker = init.get().getDefiningOp();
  if (!maker || isa<tensor::EmptyOp>(maker) ||
      op.payloadUsesValueFromOperand(&init) || !isReadBehind(init.get(), op))
    return;
  OpBuilder b(op);
  init.set(tensor::EmptyOp::create(
      b, op.getLoc(), tensor::getMixedSizes(b, op.getLoc(), init.get()),
      cast<RankedTensorType>(init.get().getType()).getElementType()));
}

static void reuse(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumLoops() != op.getNumParallelLoops())
    return;
  OpOperand &init = op.getDpsInitsMutable()[0];
  auto empty = init.get().getDefiningOp<tensor::EmptyOp>();
  if (!empty || op.payloadUsesValueFromOperand(&init) ||
      isPlaced(op->getResult(0)))
    return;
  for (OpOperand *input : op.getDpsInputOperands())
    if (fits(op, *input, init)) {
      init.set(input->get());
      if (empty->use_empty())
        empty.erase();
      return;
    }
}

// --- tiles ---

/// The op that computes all results of a loop, each of which it inserts whole.
template <typename Op> static Op tileOf(scf::ForallOp loop) {
  Op tile;
  for (Operation &yielded : *loop.getTerminator().getBody()) {
    auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(yielded);
    auto maker = insert ? insert.getSource().getDefiningOp<Op>() : Op();
    if (!maker || (tile && tile != maker))
      return {};
    tile = maker;
  }
  return tile && tile->getNumResults() == loop.getNumResults() ? tile : Op();
}

static bool isSamePart(tensor::ExtractSliceOp a, tensor::ExtractSliceOp b) {
  return a.getType() == b.getType() &&
         a.getMixedOffsets() == b.getMixedOffsets() &&
         a.getMixedSizes() == b.getMixedSizes() &&
         a.getMixedStrides() == b.getMixedStrides();
}

/// Whether `part`, in `loop`, is the last that reads its source: all others are
/// in front of the loop, and what they give is no part of it.
static bool isLastReader(tensor::ExtractSliceOp part, scf::ForallOp loop) {
  return llvm::all_of(part.getSource().getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (user == part || isa<tensor::DimOp>(user))
      return true;
    Operation *ancestor = loop->getBlock()->findAncestorOpInBlock(*user);
    auto destination = dyn_cast<DestinationStyleOpInterface>(user);
    bool onlyReads = user != ancestor || (isa<linalg::LinalgOp>(user) &&
                                          !destination.isDpsInit(&use));
    return onlyReads && ancestor && ancestor->isBeforeInBlock(loop);
  });
}

namespace {
/// A tensor that a tile reads where it writes one of its results.
struct Reuse {
  tensor::ExtractSliceOp read, written;
};
} // namespace

/// Whether result `i` of `loop`, which the tile writes to `out`, can lie where
/// the tensor is of which it reads a part as `operand`.
static std::optional<Reuse> findReuse(scf::ForallOp loop, unsigned i,
                                      Value operand, Value out) {
  auto read = operand.getDefiningOp<tensor::ExtractSliceOp>(),
       written = out.getDefiningOp<tensor::ExtractSliceOp>();
  if (!read || !written || !read->hasOneUse() || !isSamePart(read, written) ||
      written.getSource() != loop.getRegionIterArgs()[i] ||
      read.getSource().getParentBlock() != loop->getBlock() ||
      !isOwned(read.getSource(), loop->getResult(i).getType()) ||
      isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
          read.getSource().getDefiningOp()) ||
      isPlaced(loop->getResult(i)) ||
      !loop.getOutputs()[i].getDefiningOp<tensor::EmptyOp>() ||
      !isLastReader(read, loop))
    return std::nullopt;
  return Reuse{read, written};
}

static void apply(const Reuse &reuse, scf::ForallOp loop, unsigned i) {
  tensor::ExtractSliceOp read = reuse.read, written = reuse.written;
  loop.getOutputsMutable()[i].set(read.getSource());
  read.replaceAllUsesWith(written.getOperation());
  read.erase();
}

/// A product computes where a tensor lies that its epilogue reads.
static void reuse(scf::ForallOp loop, ProjectTileOp tile) {
  if (cast<ShapedType>(tile.getWeight().getType()).getRank() != 3)
    return;
  for (Value capture : tile.getCaptures())
    if (auto found = findReuse(loop, 0, capture, tile.getOut()))
      return apply(*found, loop, 0);
}

/// Two states are merged where the first one lies.
static void reuse(scf::ForallOp loop, MergeRowsOp tile) {
  SmallVector<Reuse> all;
  for (unsigned i = 0; i < tile->getNumResults(); ++i) {
    auto found = findReuse(loop, i, tile->getOperand(i),
                           tile.getDpsInitOperand(i)->get());
    if (!found)
      return;
    all.push_back(*found);
  }
  for (auto [i, one] : llvm::enumerate(all))
    apply(one, loop, i);
}

namespace {
struct ReuseOperands : attn::impl::ReuseOperandsBase<ReuseOperands> {
  void runOnOperation() override {
    getOperation()->walk([](linalg::LinalgOp op) {
      separate(op);
      reuse(op);
    });
    getOperation()->walk([](scf::ForallOp loop) {
      if (auto product = tileOf<ProjectTileOp>(loop))
        reuse(loop, product);
      else if (auto merge = tileOf<MergeRowsOp>(loop))
        reuse(loop, merge);
    });
  }
};
} // namespace
