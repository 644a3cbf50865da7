// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Refuses sizes that cannot be known before the kernel runs.
//
//   %n = scf.while .. ; %k = tensor.extract_slice %x[0, 0] [%n, 64] [1, 1]
//                            ^ error: 'tensor.extract_slice' op expects sizes
//                              that follow from the arguments, but got one that
//                              'scf.while' tells
//
// The work space has its size before the kernel runs. A size may be computed
// from sizes of arguments, from loop counters, and from numbers that an
// argument holds in its first element.
//
//   scf.for .. iter_args(%a = %x) { %b = tensor.concat dim(0) %a, %x; .. }
//   ^ error: 'scf.for' op expects turns that keep the sizes of its tensors, but
//     dimension 0 of the yielded value 0 may be another one
//
// Nor can a buffer for all turns have a size that turns change.
//
// The IR does not change. Before: the fused level, tensor.dim asks arguments
// where it can. After: the same.
#include "SizeFinder.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace attn {
#define GEN_PASS_DEF_CHECKUNKNOWNSIZES
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

static bool isArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument &&
         isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
}

/// The op that makes `size` unknown before the kernel runs; null if none does.
static Operation *unknownFrom(Value size,
                              llvm::SmallPtrSetImpl<Operation *> &seen) {
  if (auto argument = dyn_cast<BlockArgument>(size)) {
    Operation *parent = argument.getOwner()->getParentOp();
    auto loop = dyn_cast<LoopLikeOpInterface>(parent);
    std::optional<SmallVector<Value>> counters;
    if (loop)
      counters = loop.getLoopInductionVars();
    bool counts = counters && llvm::is_contained(*counters, size);
    return isArgument(size) || counts ? nullptr : parent;
  }
  Operation *op = size.getDefiningOp();
  if (!seen.insert(op).second)
    return nullptr;
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    // Ops on whole tensors have the sizes of their operands.
    Operation *maker = dim.getSource().getDefiningOp();
    return maker && isa<RegionBranchOpInterface>(maker) ? maker : nullptr;
  }
  if (auto element = dyn_cast<tensor::ExtractOp>(op)) {
    bool isFirst = llvm::all_of(element.getIndices(), [](Value index) {
      return isConstantIntValue(index, 0);
    });
    return isFirst && isArgument(element.getTensor()) ? nullptr : op;
  }
  if (op->getNumRegions() || !isPure(op))
    return op;
  for (Value operand : op->getOperands())
    if (Operation *unknown = unknownFrom(operand, seen))
      return unknown;
  return nullptr;
}

/// Sizes that `op` is told, of the tensor it makes.
static ValueRange sizesOf(Operation *op) {
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return slice.getSizes();
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return expand.getOutputShape();
  if (isa<tensor::EmptyOp, tensor::GenerateOp>(op))
    return op->getOperands();
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return splat.getDynamicSizes();
  return {};
}

namespace {
/// What a loop begins with, the same in a turn, what the turn yields, and what
/// the loop gives, each value at one place.
struct Carried {
  explicit Carried(scf::ForOp loop)
      : loop(loop), inits(loop.getInitArgs()),
        arguments(loop.getRegionIterArgs()), yields(loop.getYieldedValues()),
        given(loop.getRegionIterArgs()), results(loop.getResults()) {}
  explicit Carried(scf::WhileOp loop)
      : loop(loop), inits(loop.getInits()),
        arguments(loop.getBeforeArguments()), yields(loop.getYieldedValues()),
        given(loop.getConditionOp().getArgs()), results(loop.getResults()) {}

  Operation *loop;
  ValueRange inits, arguments, yields;
  ValueRange given, results; ///< in an order of their own
};
} // namespace

/// Calls `body` with the sizes of two tensors.
static void eachSize(ValueRange left, ValueRange right,
                     llvm::function_ref<void(size_t, Dim, Dim)> body) {
  for (auto [i, a, b] : llvm::enumerate(left, right))
    if (auto type = dyn_cast<RankedTensorType>(a.getType()))
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        if (type.isDynamicDim(dim))
          body(i, {a, dim}, {b, dim});
}

/// Whether all turns keep the sizes of their tensors: whether they do if those
/// in front did.
static LogicalResult checkTurns(ArrayRef<Carried> loops, SizeFinder &finder) {
  for (const Carried &each : loops) {
    auto join = [&](size_t, Dim a, Dim b) { finder.join(each.loop, a, b); };
    eachSize(each.inits, each.arguments, join);
    eachSize(each.given, each.results, join);
  }
  bool keep = true;
  for (const Carried &each : loops)
    eachSize(each.arguments, each.yields, [&](size_t i, Dim from, Dim to) {
      if (!keep || finder.areEqual(from, to))
        return;
      keep = false;
      each.loop->emitOpError()
          << "expects turns that keep the sizes of its tensors, but dimension "
          << from.second << " of the yielded value " << i
          << " may be another one";
    });
  return success(keep);
}

namespace {
struct CheckUnknownSizes
    : attn::impl::CheckUnknownSizesBase<CheckUnknownSizes> {
  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      for (Value size : sizesOf(op)) {
        llvm::SmallPtrSet<Operation *, 16> seen;
        Operation *unknown = unknownFrom(size, seen);
        if (!unknown)
          continue;
        op->emitOpError() << "expects sizes that follow from the arguments, "
                             "but got one that '"
                          << unknown->getName() << "' tells";
        return signalPassFailure();
      }
    });
    std::vector<Carried> loops;
    getOperation().walk([&](Operation *op) {
      llvm::TypeSwitch<Operation *>(op).Case<scf::ForOp, scf::WhileOp>(
          [&](auto loop) { loops.emplace_back(loop); });
    });
    if (loops.empty())
      return;
    SizeFinder finder(getOperation());
    if (finder.failed() || failed(checkTurns(loops, finder)))
      signalPassFailure();
  }
};
} // namespace
