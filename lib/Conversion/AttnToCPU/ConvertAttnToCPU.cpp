// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tile ops on buffers become calls of kernels made of vector code.
//
// Before:  %s1 = attn.online %s0, %k_tile, %v_tile rows .. mode full
//                : !attn.state<128 x 64 x 64, f32>, memref<?x64xf32, ..>, ..
// After:   func.call @NAME.online_full(%state, %k_tile, %v_tile, ..)
//          func.func private @NAME.online_full(%state: memref<2016x16xf32>, ..)
//          {
//            scf.for .. { vector.load, vector.broadcast, vector.fma .. }
//          }
//
// A state becomes one buffer (StateLayout.h) that the ops change in place; it
// is used once at a time, so nothing is copied. Ops that differ only in their
// operands share a kernel: the text of a loop over tiles stays small, and the
// kernels' names are labels in the assembly.
//
// Before: tile ops on memrefs whose innermost stride is 1. After: no attn op is
// left; scf, memref, arith, vector and func are.
#include "Decode/DecodeKernels.h"
#include "KernelLibrary.h"
#include "Prefill/Kernels.h"
#include "Project/PackPanels.h"
#include "Project/ProjectTile.h"
#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "attn/Dialect/Attn/Utils/FewRows.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"

namespace attn {
#define GEN_PASS_DEF_CONVERTATTNTOCPU
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

namespace {
/// Positions of the operands that online and weigh share.
template <typename Op> TileOperands tileOperands(Op op, ValueRange arguments) {
  TileOperands tile;
  auto at = [&](unsigned odsIndex) {
    return arguments[op.getODSOperandIndexAndLength(odsIndex).first];
  };
  constexpr bool online = std::is_same_v<Op, OnlineOp>;
  unsigned next = online ? 3 : 2; // behind state, key (and value)
  tile.state = at(0);
  tile.key = at(1);
  tile.queryBegin = at(next);
  tile.queryEnd = at(next + 1);
  tile.keyBegin = at(next + 2);
  tile.queryLength = at(next + 3);
  tile.keyLength = at(next + 4);
  if (op.getBias())
    tile.bias = at(next + 5);
  auto [first, count] = op.getODSOperandIndexAndLength(next + 6);
  for (unsigned i = 0; i < count; ++i)
    tile.maskOperands.push_back(arguments[first + i]);
  auto [firstCapture, captures] = op.getODSOperandIndexAndLength(next + 7);
  tile.captures = arguments.slice(firstCapture, captures);
  if constexpr (online) {
    auto [firstDropped, dropped] = op.getODSOperandIndexAndLength(next + 8);
    if (dropped)
      tile.dropout = {arguments[firstDropped], arguments[firstDropped + 1],
                      arguments[firstDropped + 2],
                      op.getDropout()->convertToDouble()};
    auto [firstPrefetch, prefetches] = op.getODSOperandIndexAndLength(next + 9);
    tile.prefetch = arguments.slice(firstPrefetch, prefetches);
  }
  tile.function = scoreFunctionOf(op);
  return tile;
}

struct ConvertInitState : ConvertTileOp<InitStateOp> {
  using ConvertTileOp::ConvertTileOp;
  LogicalResult
  matchAndRewrite(InitStateOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    StateType type = op.getType();
    StateLayout layout(type, CPUScheduleAttr::of(op), library.extras);
    DecodeLayout decode(type, CPUScheduleAttr::of(op));
    bool isDecode = type.getKind() == Kind::Decode;
    auto buffer = cast<MemRefType>(getTypeConverter()->convertType(type));
    Value state = memref::AllocOp::create(rewriter, op.getLoc(), buffer,
                                          rewriter.getI64IntegerAttr(64));
    Value view = viewBuffer(rewriter, op.getLoc(), state,
                            library.bufferOf(type, CPUScheduleAttr::of(op)));
    SmallVector<Value> operands{view, adaptor.getQuery()};
    return replaceByCall(
        op, rewriter, isDecode ? "decode_init_state" : "init_state", operands,
        [&](KernelBuilder &k, ValueRange a) {
          double scale = op.getScale().convertToDouble();
          if (isDecode)
            emitDecodeInitState(k, decode, a[0], a[1], scale);
          else
            emitInitState(k, layout, a[0], a[1], scale);
        },
        layout.element, state);
  }
};

struct ConvertOnline : ConvertTileOp<OnlineOp> {
  using ConvertTileOp::ConvertTileOp;
  LogicalResult
  matchAndRewrite(OnlineOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    StateLayout layout(op.getState().getType(), CPUScheduleAttr::of(op),
                       library.extras);
    StateType type = op.getState().getType();
    DecodeLayout decode(type, CPUScheduleAttr::of(op));
    bool edge = op.getMode() == TileMode::Edge;
    bool isDecode = type.getKind() == Kind::Decode;
    SmallVector<Value> states{adaptor.getState()};
    if (op.getSecondState())
      states.push_back(adaptor.getSecondState());
    std::string kind = isDecode              ? "decode_"
                       : op.getSecondState() ? "differential_"
                                             : "";
    return replaceByCall(
        op, rewriter, kind + (edge ? "online_edge" : "online_full"),
        adaptor.getOperands(),
        [&](KernelBuilder &k, ValueRange a) {
          TileOperands tile = tileOperands(op, a);
          tile.mask = edge ? op.getMaskAttr() : Attribute();
          bool strict = edge || op.getBias() || tile.function || tile.dropout;
          if (isDecode)
            return emitDecodeOnline(k, decode, tile, a[2], type, op.getHeads(),
                                    strict);
          SmallVector<TileOperands, 2> maps{tile};
          if (op.getSecondState()) { // the last two operands
            tile.state = a.drop_back().back();
            tile.key = a.back();
            maps.push_back(tile);
          }
          emitOnline(k, layout, maps, a[2], strict);
        },
        layout.element, states);
  }
};

/// Refuses a state whose kernels for `op` there are none.
template <typename Op> LogicalResult expectPrefill(Op op, StateType type) {
  return type.getKind() == Kind::Prefill
             ? success()
             : op.emitOpError("expects a state of kind prefill on this target");
}

struct ConvertMerge : ConvertTileOp<MergeOp> {
  using ConvertTileOp::ConvertTileOp;
  LogicalResult
  matchAndRewrite(MergeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (failed(expectPrefill(op, op.getType())))
      return failure();
    StateLayout layout(op.getType(), CPUScheduleAttr::of(op), library.extras);
    return replaceByCall(
        op, rewriter, "merge", adaptor.getOperands(),
        [&](KernelBuilder &k, ValueRange a) {
          emitMerge(k, layout, a[0], a[1]);
        },
        layout.element, adaptor.getOperands().front());
  }
};

struct ConvertSaveState : ConvertTileOp<SaveStateOp> {
  using ConvertTileOp::ConvertTileOp;
  LogicalResult
  matchAndRewrite(SaveStateOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    StateType type = op.getState().getType();
    StateLayout layout(type, CPUScheduleAttr::of(op), library.extras);
    DecodeLayout decode(type, CPUScheduleAttr::of(op));
    bool isDecode = type.getKind() == Kind::Decode;
    return replaceByCall(
        op, rewriter, isDecode ? "decode_save_state" : "save_state",
        adaptor.getOperands(),
        [&](KernelBuilder &k, ValueRange a) {
          if (isDecode)
            emitDecodeSaveState(k, decode, a[0], a[1]);
          else
            emitSaveState(k, layout, a[0], a[1]);
        },
        layout.element);
  }
};

struct ConvertCombine : ConvertTileOp<CombineOp> {
  using ConvertTileOp::ConvertTileOp;
  LogicalResult
  matchAndRewrite(CombineOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    DecodeLayout layout = DecodeLayout::ofParts(
        cast<ShapedType>(op.getParts().getType()), CPUScheduleAttr::of(op));
    return replaceByCall(
        op, rewriter, "combine", adaptor.getOperands(),
        [&](KernelBuilder &k, ValueRange a) {
          bool hasSink = static_cast<bool>(op.getSink());
          ValueRange outs = a.drop_front(1 + hasSink);
          emitCombine(k, layout, a[0], hasSink ? a[1] : Value(), outs[0],
                      outs.size() > 1 ? outs[1] : Value());
        },
        layout.element);
  }
};

struct ConvertAddSink : ConvertTileOp<AddSinkOp> {
  using ConvertTileOp::ConvertTileOp;
  LogicalResult
  matchAndRewrite(AddSinkOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    StateLayout layout(op.getNext().getType(), CPUScheduleAttr::of(op),
                       library.extras);
    return replaceByCall(
        op, rewriter, "add_sink", adaptor.getOperands(),
        [&](KernelBuilder &k, ValueRange a) {
          emitAddSink(k, layout, a[0], a[1]);
        },
        layout.element, adaptor.getOperands().front());
  }
};

struct ConvertFinalize : ConvertTileOp<FinalizeOp> {
  using ConvertTileOp::ConvertTileOp;
  LogicalResult
  matchAndRewrite(FinalizeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (failed(expectPrefill(op, op.getState().getType())))
      return failure();
    StateLayout layout(op.getState().getType(), CPUScheduleAttr::of(op),
                       library.extras);
    return replaceByCall(
        op, rewriter, "finalize", adaptor.getOperands(),
        [&](KernelBuilder &k, ValueRange a) {
          emitFinalize(k, layout, a[0], a[1], a.size() > 2 ? a[2] : Value());
        },
        layout.element);
  }
};

struct ConvertFinalizeDifference : ConvertTileOp<FinalizeDifferenceOp> {
  using ConvertTileOp::ConvertTileOp;
  LogicalResult
  matchAndRewrite(FinalizeDifferenceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    StateType type = op.getFirst().getType();
    if (failed(expectPrefill(op, type)))
      return failure();
    StateLayout layout(type, CPUScheduleAttr::of(op), library.extras);
    return replaceByCall(
        op, rewriter, "finalize_difference", adaptor.getOperands(),
        [&](KernelBuilder &k, ValueRange a) {
          emitFinalizeDifference(k, layout, a[0], a[1], a[2], a[3]);
        },
        layout.element);
  }
};

struct ConvertWeigh : ConvertTileOp<WeighOp> {
  using ConvertTileOp::ConvertTileOp;
  LogicalResult
  matchAndRewrite(WeighOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (failed(expectPrefill(op, op.getState().getType())))
      return failure();
    StateLayout layout(op.getState().getType(), CPUScheduleAttr::of(op),
                       library.extras);
    return replaceByCall(
        op, rewriter, "weigh", adaptor.getOperands(),
        [&](KernelBuilder &k, ValueRange a) {
          TileOperands tile = tileOperands(op, a);
          tile.mask = op.getMaskAttr();
          ValueRange matrices =
              a.drop_front(op.getDpsInitsMutable()[0].getOperandNumber());
          Value weights = op.getWeights() ? matrices.front() : Value();
          Value scores = op.getScores() ? matrices.back() : Value();
          emitWeigh(k, layout, tile, weights, scores, op.getStage(),
                    op.getScale().convertToDouble());
        },
        layout.element);
  }
};

/// What projections and states of this type are computed in.
Type computedIn(Type element) {
  return element.isF64() ? element : Float32Type::get(element.getContext());
}

struct ConvertPackPanels : ConvertTileOp<PackPanelsOp> {
  using ConvertTileOp::ConvertTileOp;
  LogicalResult
  matchAndRewrite(PackPanelsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type element = cast<ShapedType>(op.getPanels().getType()).getElementType();
    return replaceByCall(
        op, rewriter, "pack_panels", adaptor.getOperands(),
        [&](KernelBuilder &k, ValueRange a) {
          emitPackPanels(k, a[0], op.getTransposed(), a[1]);
        },
        computedIn(element));
  }
};

struct ConvertProjectTile : ConvertTileOp<ProjectTileOp> {
  using ConvertTileOp::ConvertTileOp;
  LogicalResult
  matchAndRewrite(ProjectTileOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type element =
        computedIn(cast<ShapedType>(op.getOut().getType()).getElementType());
    CPUScheduleAttr schedule = CPUScheduleAttr::of(op);
    RowBounds bounds{schedule.getQueryTile(),
                     op->hasAttr(fewRowsAttr) ? mostFewRows(schedule) : 0};
    if (auto most = op->getAttrOfType<IntegerAttr>(mostRowsAttr))
      bounds.most = most.getInt();
    ProjectSizes sizes(schedule, adaptor.getInput(), adaptor.getWeight(),
                       op.getTransposed(), element, op.getEpilogueBlock(),
                       bounds);
    SmallVector<Value> operands(adaptor.getOperands());
    size_t own = operands.size();
    for (MemRefType type : sizes.scratch())
      operands.push_back(memref::AllocOp::create(
          rewriter, op.getLoc(), type, rewriter.getI64IntegerAttr(64)));
    return replaceByCall(
        op, rewriter, "project", operands,
        [&](KernelBuilder &k, ValueRange a) {
          size_t captures = op.getCaptures().size();
          emitProjectTile(k, {a[0], a[1], op.getTransposed(),
                              op.getBias() ? a[2] : Value(), a[own - 1], bounds,
                              op.getEpilogueBlock(),
                              a.take_front(own - 1).take_back(captures),
                              a.drop_front(own)});
        },
        element);
  }
};

/// Raises the library's number of extras to what `op` needs.
template <typename Op> void countExtras(KernelLibrary &library, Op op) {
  Value bias = op.getBias();
  int64_t count = packedMasks(op.getMaskAttr(), op.getMaskOperands()).size();
  if (bias && isa<MemRefType>(bias.getType()))
    count += matrixKind(bias) != MatrixKind::Row;
  if constexpr (std::is_same_v<Op, GradStepOp>)
    if (Value cotangents = op.getDWeights())
      count += matrixKind(cotangents) != MatrixKind::Row;
  library.extras = std::max(library.extras, count);
}

/// Kernels read and write memory.
LogicalResult refuseTensors(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    if (!isa_and_nonnull<AttnDialect>(op->getDialect()) ||
        !llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>))
      return WalkResult::advance();
    op->emitOpError("is on tensors; tile and bufferize it before "
                    "convert-attn-to-cpu");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// The buffers of all states by their types. Where schedules lay states of one
/// type out in several ways, it is as large as the largest of them.
DenseMap<Type, MemRefType> findBuffers(ModuleOp module,
                                       const KernelLibrary &library) {
  DenseMap<Type, MemRefType> buffers;
  module.walk([&](InitStateOp op) {
    MemRefType buffer = library.bufferOf(op.getType(), CPUScheduleAttr::of(op));
    MemRefType &known = buffers.try_emplace(op.getType(), buffer).first->second;
    if (known != buffer)
      known = MemRefType::get(
          {std::max(known.getNumElements(), buffer.getNumElements())},
          buffer.getElementType());
  });
  return buffers;
}

struct ConvertAttnToCPU : attn::impl::ConvertAttnToCPUBase<ConvertAttnToCPU> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(refuseTensors(module)))
      return signalPassFailure();
    MLIRContext *context = &getContext();
    KernelLibrary library;
    module.walk([&](OnlineOp op) { countExtras(library, op); });
    module.walk([&](WeighOp op) { countExtras(library, op); });
    module.walk([&](GradStepOp op) { countExtras(library, op); });
    DenseMap<Type, MemRefType> buffers = findBuffers(module, library);
    TypeConverter types;
    types.addConversion([](Type type) { return type; });
    types.addConversion(
        [&](StateType type) -> Type { return buffers.lookup(type); });
    RewritePatternSet patterns(context);
    patterns.add<ConvertInitState, ConvertOnline, ConvertAddSink, ConvertMerge,
                 ConvertFinalize, ConvertFinalizeDifference, ConvertSaveState,
                 ConvertCombine, ConvertWeigh, ConvertPackPanels,
                 ConvertProjectTile>(types, context, library);
    populateStateRowsPatterns(patterns, types, library);
    populateGradientPatterns(patterns, types, module, library);
    ConversionTarget target(*context);
    target.addIllegalDialect<AttnDialect>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    scf::populateSCFStructuralTypeConversionsAndLegality(types, patterns,
                                                         target);
    if (failed(applyPartialConversion(module, target, std::move(patterns))))
      return signalPassFailure();
  }
};
} // namespace
