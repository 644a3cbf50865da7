// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tile ops of gradients become calls of kernels.
#include "Gradient/GradKernels.h"
#include "KernelLibrary.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

/// `query` and `dOut` are rows of the tile.
template <typename Op>
static GradLayout layoutOf(const KernelLibrary &library, Op op, Value query,
                           Value dOut) {
  return GradLayout(op.getState().getType(), CPUScheduleAttr::of(op),
                    library.extras, getElementTypeOrSelf(query),
                    getElementTypeOrSelf(dOut));
}
template <typename Op>
static GradLayout layoutOf(const KernelLibrary &library, Op op) {
  return layoutOf(library, op, op.getQuery(), op.getDOut());
}
/// What comes first in a state does not depend on the rows.
static GradLayout layoutOf(const KernelLibrary &library, FinishGradOp op) {
  GradStateType type = op.getState().getType();
  return GradLayout(type, CPUScheduleAttr::of(op), library.extras,
                    type.getElement(), type.getElement());
}

/// Whether a pair may be excluded, which what it holds must not be told of.
static bool isStrict(GradStepOp op) {
  return op.getMode() == TileMode::Edge || op.getBias() ||
         scoreFunctionOf(op) || op.getDropout();
}

namespace {
struct ConvertInitGrad : ConvertTileOp<InitGradOp> {
  using ConvertTileOp::ConvertTileOp;
  LogicalResult
  matchAndRewrite(InitGradOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    GradStateType type = op.getState().getType();
    GradLayout layout = layoutOf(library, op);
    auto buffer = cast<MemRefType>(getTypeConverter()->convertType(type));
    Value state = memref::AllocOp::create(rewriter, op.getLoc(), buffer,
                                          rewriter.getI64IntegerAttr(64));
    SmallVector<Value> operands{
        viewBuffer(rewriter, op.getLoc(), state, layout.memrefType())};
    llvm::append_range(operands, adaptor.getOperands());
    bool checked = llvm::any_of(op.getState().getUsers(), [](Operation *user) {
      auto step = dyn_cast<GradStepOp>(user);
      return step && isStrict(step);
    });
    return replaceByCall(
        op, rewriter, checked ? "init_grad" : "init_grad_unchecked", operands,
        [&](KernelBuilder &k, ValueRange a) {
          GradRows rows{a[1], a[2], a[3], a[4], a.size() > 5 ? a[5] : Value()};
          emitInitGrad(k, layout, a[0], rows, op.getScale().convertToDouble(),
                       checked);
        },
        type.getElement(), state);
  }
};

struct ConvertGradStep : ConvertTileOp<GradStepOp> {
  using ConvertTileOp::ConvertTileOp;

  /// What the sums of `op` are of, and the derivatives behind the result.
  static ScoreChain chainOf(GradStepOp op, ValueRange sums) {
    ScoreChain chain;
    if (op.getScale())
      chain.scale = op.getScale()->convertToDouble();
    llvm::StringMap<Value> byName;
    if (op.getBy())
      for (auto [name, sum] :
           llvm::zip(op.getBy()->getAsRange<StringAttr>(), sums))
        byName[name] = sum;
    if (Value sum = byName.lookup("bias"))
      chain.sums.push_back({sum, nullptr, Value()});
    Region *function = scoreFunctionOf(op);
    if (!function)
      return chain;
    ValueRange yielded = function->front().getTerminator()->getOperands();
    if (!matchPattern(yielded[1], m_OneFloat()))
      chain.derivative = yielded[1];
    yielded = yielded.drop_front(2);
    auto isLearned = [&](unsigned capture) { return op.isLearned(capture); };
    for (Operation &inner : function->getOps()) {
      if (!readsLearned(&inner, isLearned))
        continue;
      unsigned number =
          cast<BlockArgument>(inner.getOperand(0)).getArgNumber() -
          FirstCapture;
      Value sum = byName.lookup("capture_" + std::to_string(number));
      chain.sums.push_back({sum, &inner, yielded.front()});
      yielded = yielded.drop_front();
    }
    return chain;
  }

  /// The op's operands as values `a`, and behind them room for ds, and for
  /// factors of a dropout, where these are kept.
  static GradStep stepOf(GradStepOp op, ValueRange a) {
    auto groupOf = [&](MutableOperandRange range) {
      OperandRange operands = range;
      return operands.empty()
                 ? ValueRange()
                 : a.slice(operands.getBeginOperandIndex(), operands.size());
    };
    auto at = [&](OpOperand &operand) { return a[operand.getOperandNumber()]; };
    bool edge = op.getMode() == TileMode::Edge;
    GradStep step;
    step.tile.state = at(op.getStateMutable());
    step.tile.key = at(op.getKeyMutable());
    step.value = at(op.getValueMutable());
    step.tile.queryBegin = at(op.getQueryBeginMutable());
    step.tile.queryEnd = at(op.getQueryEndMutable());
    step.tile.keyBegin = at(op.getKeyBeginMutable());
    step.tile.queryLength = at(op.getQueryLengthMutable());
    step.tile.keyLength = at(op.getKeyLengthMutable());
    if (op.getBias())
      step.tile.bias = groupOf(op.getBiasMutable())[0];
    llvm::append_range(step.tile.maskOperands,
                       groupOf(op.getMaskOperandsMutable()));
    step.tile.mask = edge ? op.getMaskAttr() : Attribute();
    step.tile.function = scoreFunctionOf(op);
    step.tile.captures = groupOf(op.getCapturesMutable());
    if (ValueRange dropped = groupOf(op.getDroppedMutable());
        !dropped.empty()) {
      step.tile.dropout = {dropped[0], dropped[1], dropped[2],
                           op.getDropout()->convertToDouble()};
    }
    if (op.getDWeights())
      step.tile.cotangents = groupOf(op.getDWeightsMutable())[0];
    step.query = at(op.getQueryMutable());
    step.dOut = at(op.getDOutMutable());
    step.dKey = at(op.getDKeyMutable());
    step.dValue = at(op.getDValueMutable());
    step.chain = chainOf(op, groupOf(op.getSumsMutable()));
    step.strict = isStrict(op);
    step.sigmoid = op.isSigmoid();
    ValueRange rooms = a.drop_front(op->getNumOperands());
    if (rooms.empty()) // of an op that is yet to be given some
      return step;
    if (step.chain.keepsSlopes())
      step.slopes = rooms.front();
    if (step.tile.dropout)
      step.factors = rooms.back();
    return step;
  }

  LogicalResult
  matchAndRewrite(GradStepOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    GradStateType type = op.getState().getType();
    GradLayout layout = layoutOf(library, op);
    SmallVector<Value> operands(adaptor.getOperands());
    GradStep known = stepOf(op, operands);
    operands[0] =
        viewBuffer(rewriter, op.getLoc(), operands[0], layout.memrefType());
    auto room = MemRefType::get(
        {CPUScheduleAttr::of(op).getKeyTile(), layout.queries.queryBlock},
        type.getElement());
    for (bool needed :
         {known.chain.keepsSlopes(), known.tile.dropout.has_value()})
      if (needed)
        operands.push_back(memref::AllocOp::create(
            rewriter, op.getLoc(), room, rewriter.getI64IntegerAttr(64)));
    bool edge = op.getMode() == TileMode::Edge;
    return replaceByCall(
        op, rewriter, edge ? "grad_edge" : "grad_full", operands,
        [&](KernelBuilder &k, ValueRange a) {
          emitGradStep(k, layout, stepOf(op, a));
        },
        type.getElement());
  }
};

struct ConvertFinishGrad : ConvertTileOp<FinishGradOp> {
  using ConvertTileOp::ConvertTileOp;
  LogicalResult
  matchAndRewrite(FinishGradOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    GradStateType type = op.getState().getType();
    GradLayout layout = layoutOf(library, op);
    SmallVector<Value> operands(adaptor.getOperands());
    operands[0] =
        viewBuffer(rewriter, op.getLoc(), operands[0], layout.memrefType());
    return replaceByCall(
        op, rewriter, "finish_grad", operands,
        [&](KernelBuilder &k, ValueRange a) {
          emitFinishGrad(k, layout, a[0], a[1]);
        },
        type.getElement());
  }
};
} // namespace

void cpu::populateGradientPatterns(RewritePatternSet &patterns,
                                   TypeConverter &types, ModuleOp module,
                                   KernelLibrary &library) {
  // Schedules may lay states of one type out in several ways; the buffer is as
  // large as the largest of them.
  DenseMap<Type, MemRefType> buffers;
  module.walk([&](InitGradOp op) {
    GradStateType type = op.getState().getType();
    MemRefType buffer = layoutOf(library, op).memrefType();
    MemRefType &known = buffers.try_emplace(type, buffer).first->second;
    if (known != buffer)
      known = MemRefType::get(
          {std::max(known.getNumElements(), buffer.getNumElements())},
          buffer.getElementType());
  });
  types.addConversion(
      [buffers](GradStateType type) -> Type { return buffers.lookup(type); });
  patterns.add<ConvertInitGrad, ConvertGradStep, ConvertFinishGrad>(
      types, patterns.getContext(), library);
}
