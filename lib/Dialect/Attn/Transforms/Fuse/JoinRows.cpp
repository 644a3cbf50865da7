// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Batch entries that share a weight are the rows of one product.
//
// Before:  %y = attn.project %x, %w
//              : (tensor<?x4x64xf32>, tensor<64x96xf32>) -> tensor<?x4x96xf32>
// After:   %rows = tensor.collapse_shape %x [[0, 1], [2]]
//          %all = attn.project %rows, %w
//              : (tensor<?x64xf32>, tensor<64x96xf32>) -> tensor<?x96xf32>
//          %y = tensor.expand_shape %all [[0, 1], [2]]
//
// Entries of few rows would read the weight once each, and fill no register
// tile. Where entries have more than `fewRows` rows, or nobody knows how many,
// that is not worth a copy: then the input must be a tensor of our own, whose
// rows lie behind each other, and the result none that a caller gets. Else the
// product stays, and a remark says so. What has one row per entry stays as
// well: attn-tile-projections joins such rows wherever they lie.
//
// Before: projections are merged. After: the same.
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"

namespace attn {
#define GEN_PASS_DEF_JOINROWS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Rows of an entry that are few: a register tile or two.
static constexpr int64_t fewRows = 16;
/// Rows of an entry that fill a tile of a product.
static constexpr int64_t manyRows = 96;

/// Whether the rows of all entries lie behind each other.
static bool areRowsContiguous(Value value) {
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
      value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  Operation *op = value.getDefiningOp();
  return op && !isa<tensor::ExtractSliceOp, tensor::CastOp>(op);
}

/// Whether a value, or what is computed from it element by element, is what the
/// function returns.
static bool isReturned(Value value) {
  SmallVector<Value> values{value};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!values.empty())
    for (Operation *user : values.pop_back_val().getUsers()) {
      if (user->hasTrait<OpTrait::IsTerminator>())
        return true;
      bool passesOn = OpTrait::hasElementwiseMappableTraits(user) ||
                      isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user);
      if (passesOn && seen.insert(user).second)
        llvm::append_range(values, user->getResults());
    }
  return false;
}

/// Why entries stay apart; empty: they are joined. None: there is nothing to
/// say about it.
static std::optional<StringRef> misfit(ProjectOp op) {
  RankedTensorType type = op.getType();
  if (type.getRank() != 3 || op.hasWeights() || type.getDimSize(0) == 1 ||
      type.getDimSize(1) == 1)
    return std::nullopt;
  int64_t rows = type.getDimSize(1);
  bool isKnown = !type.isDynamicDim(1);
  if (isKnown && rows >= manyRows)
    return std::nullopt;
  if (isKnown && rows <= fewRows)
    return StringRef();
  if (!areRowsContiguous(op.getInput()))
    return StringRef("its input is a slice or a tensor of the caller");
  if (isReturned(op.getResult()))
    return StringRef("its result is one of the function's");
  return StringRef();
}

static void join(ProjectOp op, IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  SmallVector<ReassociationIndices> groups{{0, 1}, {2}};
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, op.getInput());
  Value rows =
      tensor::CollapseShapeOp::create(rewriter, loc, op.getInput(), groups);
  RankedTensorType type = op.getType();
  int64_t count = cast<RankedTensorType>(rows.getType()).getDimSize(0);
  auto joined =
      RankedTensorType::get({count, type.getDimSize(2)}, type.getElementType());
  Value all = ProjectOp::create(
      rewriter, loc, joined, rows, op.getWeight(), op.getTransposed(),
      op.getBias(), op.getScheduleAttr(), op.getFewRowsScheduleAttr());
  sizes[2] = tensor::getMixedSize(rewriter, loc, all, 1);
  rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, type, all, groups,
                                                     sizes);
}

namespace {
struct JoinRows : attn::impl::JoinRowsBase<JoinRows> {
  void runOnOperation() override {
    SmallVector<ProjectOp> ops;
    getOperation()->walk([&](ProjectOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (ProjectOp op : ops) {
      std::optional<StringRef> reason = misfit(op);
      if (!reason)
        continue;
      if (reason->empty())
        join(op, rewriter);
      else
        remark::missed(
            op.getLoc(),
            remark::RemarkOpts::name("NotJoined").category("attn-join-rows"))
            << ("the entries of its batch are products of their own: " +
                *reason)
                   .str();
    }
  }
};
} // namespace
