// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// convert-attn-to-tile: steps of attention become what a block does together.
//
// Before:  %next = attn.online %state, %k_tile, %v_tile rows .. keys from
// %begin
//              lengths .. mode full {schedule = #attn.gpu_schedule<..>}
// After:   // unless the keys are on their way: wait, and copy them
//          %q, %k, %v0 = tile.sync wait(%queries, %keys) release(%values)
//          %v1 = tile.copy_async %v_tile[%c0] to %v0
//          %s = tile.mma %q, %k transposed, %zeros
//          %v, %k0 = tile.sync wait(%v1) release(%k)
//          %k1 = tile.copy_async %all_keys[%next_tile] to %k0
//          // maximum, weights and sum of each row by tile.reduce and tile.map
//          %sums = tile.mma %weights, %v, %rescaled
//
// A state becomes its parts: the sums of the context, maximum (in units of
// log2) and sum of each row, three buffers, and the first one of the keys that
// are on their way to the second (-1: none). Steps copy the next tile of keys
// while they compute with this one. Where another one follows after all, as at
// the end of a loop over tiles, it is copied when its step begins; nothing but
// time depends on the guess.
//
// The sum of a row is one per thread until the end. Every weight counts in it
// as f32, before it is rounded to the values' type. A row that has seen no key
// has the sum 0 and the lowest f32 as its maximum: differences are numbers, and
// results have -inf in its place.
//
// A tile of a product becomes a loop over the features of its rows
// (Step/ProductWriter.cpp).
//
// Before: tile ops of attn on buffers, in kernels. After: no attn op is left in
// kernels; tile, scf, arith, math and memref are.
#include "Step/LongWay.h"
#include "Step/ProductWriter.h"
#include "Step/StateResults.h"
#include "Step/StepWriter.h"
#include "attn/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"

namespace attn {
#define GEN_PASS_DEF_CONVERTATTNTOTILE
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using namespace attn::gpucode;
using tile::BufferState;
using tile::BufferType;

namespace {
/// Patterns know the attention that their kernel computes.
template <typename Op> struct ConvertAttn : OpConversionPattern<Op> {
  ConvertAttn(const TypeConverter &types, MLIRContext *context,
              const Attention &attention)
      : OpConversionPattern<Op>(types, context), attention(attention) {}
  const Attention &attention;
};

struct ConvertInit : ConvertAttn<InitStateOp> {
  using ConvertAttn::ConvertAttn;
  LogicalResult
  matchAndRewrite(InitStateOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    TileBuilder t{rewriter, op.getLoc()};
    const KernelPlan &plan = attention.plan;
    auto enter = [&](BufferType type, BufferState state) -> Value {
      Value free = tile::BufferOp::create(rewriter, t.loc, type);
      return tile::EnterOp::create(rewriter, t.loc, type.in(state), free);
    };
    Value zero = t.real(0.0);
    Value room = tile::BufferOp::create(rewriter, t.loc, plan.queries);
    Value source = op.getQuery();
    if (op.getLayout() == Layout::SequenceMajor)
      source = memref::TransposeOp::create(
          rewriter, t.loc, source,
          AffineMapAttr::get(AffineMap::getPermutationMap(
              ArrayRef<unsigned>{1, 0, 2}, rewriter.getContext())));
    Value queries = tile::CopyAsyncOp::create(
        rewriter, t.loc, plan.queries.in(BufferState::Loading), source,
        t.index(0), room);
    SmallVector<Value> parts{t.splat(plan.context, zero),
                             t.splat(plan.rows, t.lowest()),
                             t.splat(plan.rows, zero),
                             queries,
                             enter(plan.keys, BufferState::Loading),
                             enter(plan.values, BufferState::Full),
                             t.index(-1)};
    rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>{parts});
    return success();
  }
};

struct ConvertOnline : ConvertAttn<OnlineOp> {
  using ConvertAttn::ConvertAttn;
  LogicalResult
  matchAndRewrite(OnlineOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    StepWriter writer(rewriter, op, attention, State(adaptor.getState()));
    rewriter.replaceOpWithMultiple(
        op, SmallVector<SmallVector<Value>>{writer.write().parts()});
    return success();
  }
};

struct ConvertAddSink : ConvertAttn<AddSinkOp> {
  using ConvertAttn::ConvertAttn;
  LogicalResult
  matchAndRewrite(AddSinkOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    StateResults results(rewriter, op.getLoc(), attention,
                         State(adaptor.getState()));
    rewriter.replaceOpWithMultiple(
        op,
        SmallVector<SmallVector<Value>>{results.addSink(op.getSink()).parts()});
    return success();
  }
};

/// Ops that write what comes of a state.
template <typename Op> struct ConvertResults : ConvertAttn<Op> {
  using ConvertAttn<Op>::ConvertAttn;
  LogicalResult
  matchAndRewrite(Op op, typename ConvertAttn<Op>::OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    StateResults(rewriter, op.getLoc(), this->attention,
                 State(adaptor.getState()))
        .write(op);
    rewriter.eraseOp(op);
    return success();
  }
};

/// Parts of a state that are asked for are those.
struct ConvertParts : ConvertAttn<UnrealizedConversionCastOp> {
  using ConvertAttn::ConvertAttn;
  LogicalResult
  matchAndRewrite(UnrealizedConversionCastOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getInputs()[0]);
    return success();
  }
};

struct ConvertAttnToTile
    : attn::impl::ConvertAttnToTileBase<ConvertAttnToTile> {
  LogicalResult convert(gpu::GPUFuncOp kernel) {
    std::optional<Attention> attention;
    kernel.walk([&](InitStateOp op) {
      attention = {planOf(op), op.getScale().convertToDouble(),
                   op.getType().getNormalization() == Normalization::Sigmoid,
                   /*isLazy=*/false};
    });
    if (!attention)
      return success();
    attention->isLazy = !kernel
                             .walk([](Operation *op) {
                               return isa<ReturnStateOp, SaveStateOp>(op)
                                          ? WalkResult::interrupt()
                                          : WalkResult::advance();
                             })
                             .wasInterrupted();
    SmallVector<InitStateOp> inits;
    kernel.walk([&](InitStateOp op) { inits.push_back(op); });
    SmallVector<Type> partTypes = attention->stateTypes();
    for (InitStateOp op : inits)
      addTurns(op, partTypes);
    MLIRContext *context = &getContext();
    TypeConverter types;
    types.addConversion([](Type type) { return type; });
    types.addConversion(
        [&](StateType, SmallVectorImpl<Type> &parts) -> LogicalResult {
          parts = attention->stateTypes();
          return success();
        });
    RewritePatternSet patterns(context);
    patterns.add<ConvertInit, ConvertOnline, ConvertAddSink,
                 ConvertResults<FinalizeOp>, ConvertResults<ReturnStateOp>,
                 ConvertResults<SaveStateOp>, ConvertResults<WeighOp>,
                 ConvertParts>(types, context, *attention);
    ConversionTarget target(*context);
    target.addIllegalDialect<AttnDialect>();
    target.addDynamicallyLegalOp<UnrealizedConversionCastOp>(
        [](UnrealizedConversionCastOp op) {
          return !isa<StateType>(op.getOperandTypes().front());
        });
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    scf::populateSCFStructuralTypeConversionsAndLegality(types, patterns,
                                                         target);
    return applyPartialConversion(kernel, target, std::move(patterns));
  }

  static void convertProducts(gpu::GPUFuncOp kernel) {
    SmallVector<ProjectBlockOp> products;
    kernel.walk([&](ProjectBlockOp op) { products.push_back(op); });
    for (ProjectBlockOp op : products) {
      OpBuilder b(op);
      ProductWriter(b, op).write();
      op.erase();
    }
  }

  void runOnOperation() override {
    SmallVector<gpu::GPUFuncOp> kernels;
    getOperation()->walk([&](gpu::GPUFuncOp op) { kernels.push_back(op); });
    for (gpu::GPUFuncOp kernel : kernels)
      convertProducts(kernel);
    for (gpu::GPUFuncOp kernel : kernels)
      if (failed(convert(kernel)))
        return signalPassFailure();
  }
};
} // namespace
