// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ops of states as a caller has them become calls of kernels; part of
// convert-attn-to-cpu (ConvertAttnToCPU.cpp).
#include "Decode/DecodeKernels.h"
#include "KernelLibrary.h"
#include "Prefill/Kernels.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

static StateRows rowsAt(ValueRange arguments, unsigned first) {
  return {arguments[first], arguments[first + 1], arguments[first + 2]};
}

namespace {
struct ConvertMergeRows : ConvertTileOp<MergeRowsOp> {
  using ConvertTileOp::ConvertTileOp;
  LogicalResult
  matchAndRewrite(MergeRowsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    return replaceByCall(
        op, rewriter, "merge_states", adaptor.getOperands(),
        [&](KernelBuilder &k, ValueRange a) {
          emitMergeRows(k, rowsAt(a, 0), rowsAt(a, 3), rowsAt(a, 6));
        },
        cast<ShapedType>(op.getAcc().getType()).getElementType());
  }
};

struct ConvertFinalizeRows : ConvertTileOp<FinalizeRowsOp> {
  using ConvertTileOp::ConvertTileOp;
  LogicalResult
  matchAndRewrite(FinalizeRowsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    return replaceByCall(
        op, rewriter, "finalize_state", adaptor.getOperands(),
        [&](KernelBuilder &k, ValueRange a) {
          emitFinalizeRows(k, rowsAt(a, 0), a[3],
                           a.size() > 4 ? a[4] : Value());
        },
        cast<ShapedType>(op.getAcc().getType()).getElementType());
  }
};

struct ConvertReturnState : ConvertTileOp<ReturnStateOp> {
  using ConvertTileOp::ConvertTileOp;
  LogicalResult
  matchAndRewrite(ReturnStateOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    StateType type = op.getState().getType();
    if (type.getKind() != Kind::Prefill)
      return op.emitOpError("expects a state of kind prefill on this target");
    StateLayout layout(type, CPUScheduleAttr::of(op), library.extras);
    return replaceByCall(
        op, rewriter, "return_state", adaptor.getOperands(),
        [&](KernelBuilder &k, ValueRange a) {
          emitReturnState(k, layout, a[0], rowsAt(a, 1));
        },
        layout.element);
  }
};

struct ConvertCombineState : ConvertTileOp<CombineStateOp> {
  using ConvertTileOp::ConvertTileOp;
  LogicalResult
  matchAndRewrite(CombineStateOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    DecodeLayout layout = DecodeLayout::ofParts(
        cast<ShapedType>(op.getParts().getType()), CPUScheduleAttr::of(op));
    return replaceByCall(
        op, rewriter, "combine_state", adaptor.getOperands(),
        [&](KernelBuilder &k, ValueRange a) {
          emitCombineState(k, layout, a[0], rowsAt(a, 1));
        },
        layout.element);
  }
};
} // namespace

void cpu::populateStateRowsPatterns(RewritePatternSet &patterns,
                                    const TypeConverter &types,
                                    KernelLibrary &library) {
  patterns.add<ConvertMergeRows, ConvertFinalizeRows, ConvertReturnState,
               ConvertCombineState>(types, patterns.getContext(), library);
}
