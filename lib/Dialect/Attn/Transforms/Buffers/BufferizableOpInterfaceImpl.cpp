// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How one-shot bufferization sees the tile ops: tiles of tensors become views,
// destinations are written in place, states are left alone.
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace attn;

/// Moves the score function of `from` to `to`, whose captures are buffers.
static void moveScoreFunction(RewriterBase &rewriter, Operation *from,
                              Operation *to) {
  Region *function = scoreFunctionOf(from);
  if (!function)
    return;
  Region &region = to->getRegion(0);
  rewriter.inlineRegionBefore(*function, region, region.begin());
  OperandRange captures = llvm::TypeSwitch<Operation *, OperandRange>(to)
                              .Case<OnlineOp, WeighOp, GradStepOp>(
                                  [](auto step) { return step.getCaptures(); });
  for (auto [argument, capture] :
       llvm::zip_equal(region.getArguments().drop_front(FirstCapture),
                       captures.drop_front(2))) {
    argument.setType(capture.getType());
    // Reads of the tensor are bufferized by now: they load from a buffer made
    // of it, whose type may say less than that of the captured one.
    for (Operation *user : llvm::make_early_inc_range(argument.getUsers()))
      if (auto buffer = dyn_cast<ToBufferOp>(user)) {
        rewriter.replaceAllUsesWith(buffer->getResult(0), argument);
        rewriter.eraseOp(buffer);
      }
  }
}

/// The same op on buffers. Results that were tensors become their destinations'
/// buffers; the others stay.
static LogicalResult onBuffers(Operation *op, RewriterBase &rewriter,
                               const BufferizationOptions &options,
                               BufferizationState &state) {
  SmallVector<Value> operands, tensorResults;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<TensorType>(operand.get().getType())) {
      operands.push_back(operand.get());
      continue;
    }
    FailureOr<Value> buffer =
        getBuffer(rewriter, operand.get(), options, state);
    if (failed(buffer))
      return failure();
    operands.push_back(*buffer);
  }
  SmallVector<Type> types;
  for (OpResult result : op->getResults())
    if (!isa<TensorType>(result.getType()))
      types.push_back(result.getType());
  OperationState newState(op->getLoc(), op->getName(), operands, types,
                          op->getAttrs());
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    newState.addRegion();
  Operation *newOp = rewriter.create(newState);
  if (isa<ProjectTileOp, ProjectBlockOp>(
          op)) // whose epilogue has numbers as arguments
    for (auto [from, to] :
         llvm::zip_equal(op->getRegions(), newOp->getRegions()))
      to.takeBody(from);
  else
    moveScoreFunction(rewriter, op, newOp);
  SmallVector<Value> results;
  unsigned kept = 0;
  for (OpResult result : op->getResults()) {
    if (!isa<TensorType>(result.getType())) {
      results.push_back(newOp->getResult(kept++));
      continue;
    }
    OpOperand *init =
        cast<DestinationStyleOpInterface>(op).getTiedOpOperand(result);
    results.push_back(operands[init->getOperandNumber()]);
  }
  replaceOpWithBufferizedValues(rewriter, op, results);
  return success();
}

namespace {
/// init_state and online: read their tensors, return a state.
template <typename Op>
struct ReadsTiles : BufferizableOpInterface::ExternalModel<ReadsTiles<Op>, Op> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *, OpOperand &,
                                      const AnalysisState &) const {
    return {};
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    return onBuffers(op, rewriter, options, state);
  }
};

/// finalize, weigh and the like: overwrite their destinations.
template <typename Op>
struct WritesDestinations
    : DstBufferizableOpInterfaceExternalModel<WritesDestinations<Op>, Op> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    return onBuffers(op, rewriter, options, state);
  }
};

/// project_tile: writes each element once where its weight comes in panels, so
/// that the epilogue may read what it overwrites.
struct WritesProducts
    : DstBufferizableOpInterfaceExternalModel<WritesProducts, ProjectTileOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return !cast<ProjectTileOp>(op).isDpsInit(&operand);
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    return onBuffers(op, rewriter, options, state);
  }
  bool bufferizesToElementwiseAccess(Operation *op, const AnalysisState &,
                                     ArrayRef<OpOperand *> operands) const {
    auto tile = cast<ProjectTileOp>(op);
    OperandRange captures = tile.getCaptures();
    return cast<ShapedType>(tile.getWeight().getType()).getRank() == 3 &&
           llvm::all_of(operands, [&](OpOperand *operand) {
             bool isCapture =
                 !captures.empty() &&
                 operand->getOperandNumber() >=
                     captures.getBeginOperandIndex() &&
                 operand->getOperandNumber() <
                     captures.getBeginOperandIndex() + captures.size();
             return tile.isDpsInit(operand) ||
                    (isCapture &&
                     operand->get().getType() == tile.getOut().getType());
           });
  }
};

/// merge_rows: writes each element behind all that it reads of that row.
struct WritesMerged
    : DstBufferizableOpInterfaceExternalModel<WritesMerged, MergeRowsOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return !cast<MergeRowsOp>(op).isDpsInit(&operand);
  }
  bool bufferizesToElementwiseAccess(Operation *, const AnalysisState &,
                                     ArrayRef<OpOperand *>) const {
    return true;
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    return onBuffers(op, rewriter, options, state);
  }
};

/// grad_step: adds to its destinations.
struct AddsToDestinations
    : DstBufferizableOpInterfaceExternalModel<AddsToDestinations, GradStepOp> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    return onBuffers(op, rewriter, options, state);
  }
};
} // namespace

void attn::registerBufferizableOpInterfaces(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, AttnDialect *) {
    InitStateOp::attachInterface<ReadsTiles<InitStateOp>>(*context);
    InitGradOp::attachInterface<ReadsTiles<InitGradOp>>(*context);
    GradStepOp::attachInterface<AddsToDestinations>(*context);
    FinishGradOp::attachInterface<WritesDestinations<FinishGradOp>>(*context);
    OnlineOp::attachInterface<ReadsTiles<OnlineOp>>(*context);
    FinalizeOp::attachInterface<WritesDestinations<FinalizeOp>>(*context);
    FinalizeDifferenceOp::attachInterface<
        WritesDestinations<FinalizeDifferenceOp>>(*context);
    SaveStateOp::attachInterface<WritesDestinations<SaveStateOp>>(*context);
    CombineOp::attachInterface<WritesDestinations<CombineOp>>(*context);
    WeighOp::attachInterface<WritesDestinations<WeighOp>>(*context);
    MergeRowsOp::attachInterface<WritesMerged>(*context);
    FinalizeRowsOp::attachInterface<WritesDestinations<FinalizeRowsOp>>(
        *context);
    ReturnStateOp::attachInterface<WritesDestinations<ReturnStateOp>>(*context);
    CombineStateOp::attachInterface<WritesDestinations<CombineStateOp>>(
        *context);
    PackPanelsOp::attachInterface<WritesDestinations<PackPanelsOp>>(*context);
    ProjectTileOp::attachInterface<WritesProducts>(*context);
    ProjectBlockOp::attachInterface<WritesDestinations<ProjectBlockOp>>(
        *context);
  });
}
