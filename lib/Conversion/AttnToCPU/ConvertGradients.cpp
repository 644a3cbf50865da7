// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tile ops of gradients become calls of kernels.
#include "Gradient/GradKernels.h"
#include "KernelLibrary.h"
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
    return replaceByCall(
        op, rewriter, "init_grad", operands,
        [&](KernelBuilder &k, ValueRange a) {
          GradRows rows{a[1], a[2], a[3], a[4], a.size() > 5 ? a[5] : Value()};
          emitInitGrad(k, layout, a[0], rows, op.getScale().convertToDouble());
        },
        type.getElement(), state);
  }
};

struct ConvertGradStep : ConvertTileOp<GradStepOp> {
  using ConvertTileOp::ConvertTileOp;

  static GradStep stepOf(GradStepOp op, ValueRange a) {
    auto at = [&](unsigned odsIndex) {
      return a[op.getODSOperandIndexAndLength(odsIndex).first];
    };
    bool edge = op.getMode() == TileMode::Edge;
    GradStep step;
    step.tile.state = at(0);
    step.tile.key = at(1);
    step.value = at(2);
    step.tile.queryBegin = at(3);
    step.tile.queryEnd = at(4);
    step.tile.keyBegin = at(5);
    step.tile.queryLength = at(6);
    step.tile.keyLength = at(7);
    if (op.getBias())
      step.tile.bias = at(8);
    auto [first, count] = op.getODSOperandIndexAndLength(9);
    for (unsigned i = 0; i < count; ++i)
      step.tile.maskOperands.push_back(a[first + i]);
    step.query = at(10);
    step.dOut = at(11);
    step.dKey = at(12);
    step.dValue = at(13);
    step.tile.mask = edge ? op.getMaskAttr() : Attribute();
    step.strict = edge || op.getBias();
    return step;
  }

  LogicalResult
  matchAndRewrite(GradStepOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    GradStateType type = op.getState().getType();
    GradLayout layout = layoutOf(library, op);
    SmallVector<Value> operands(adaptor.getOperands());
    operands[0] =
        viewBuffer(rewriter, op.getLoc(), operands[0], layout.memrefType());
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
