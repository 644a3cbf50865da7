// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// convert-tile-to-gpu: what a block does becomes what its threads do.
//
// Before:  %k = tile.copy_async %keys[%row] to %room
//          %q, %full = tile.sync wait(%queries, %k)
//          %s = tile.mma %q, %full transposed, %zeros
// After:   nvvm.cp.async.shared.global .. // once for each unit of the thread
//          nvvm.cp.async.commit.group
//          nvvm.cp.async.wait.group 0
//          nvvm.barrier0
//          %a:4 = nvvm.ldmatrix .. %b:4 = nvvm.ldmatrix ..
//          %s0:4 = nvvm.mma.sync A[%a..] B[%b..] C[..] // for each block
//
// A fragment becomes the registers that the thread has of it (LinearLayout.h),
// rows their numbers, and a buffer nothing: where it lies is in its type, and
// its state was for the verifier. Places are computed from the thread's number
// once, where the kernel begins; all else of an address is a constant in the
// instruction, for rows are padded and not swizzled.
//
// Before: tile ops in kernels. After: no tile op is left; nvvm, llvm, scf,
// arith and memref ops are.
#include "KernelPlan.h"
#include "Step/LongWay.h"
#include "Thread/CopyHeads.h"
#include "Thread/CopyRows.h"
#include "Thread/Maps.h"
#include "Thread/NotFinite.h"
#include "Thread/Products.h"
#include "Thread/Rescale.h"
#include "Thread/Stores.h"
#include "Thread/ThreadBuilder.h"
#include "attn/Conversion/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"

namespace attn {
#define GEN_PASS_DEF_CONVERTTILETOGPU
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using namespace attn::gpucode;
using tile::BufferType;
using tile::FragmentType;
using tile::RowsType;

/// Registers of a value of the tile dialect; none of other types.
static std::optional<int64_t> registersOf(Type type) {
  if (isa<BufferType>(type))
    return 0;
  if (isa<RowsType>(type))
    return rowsOfThread(type);
  if (auto fragment = dyn_cast<FragmentType>(type)) {
    int64_t count = FragmentShape(fragment).count();
    return fragment.getElement().isF32() ? count : count / 2;
  }
  return std::nullopt;
}

namespace {
/// The thread of a kernel's ops, and of those that are done again.
using Threads = llvm::SmallDenseMap<Block *, Thread>;

/// Patterns know the thread.
template <typename Op> struct ConvertTile : OpConversionPattern<Op> {
  ConvertTile(const TypeConverter &types, MLIRContext *context,
              const Threads &threads)
      : OpConversionPattern<Op>(types, context), threads(threads) {}

  ThreadBuilder builderAt(Op op, ConversionPatternRewriter &rewriter) const {
    Block *block = op->getBlock();
    while (!threads.contains(block))
      block = block->getParentOp()->getBlock();
    return ThreadBuilder(rewriter, op.getLoc(), threads.find(block)->second);
  }
  const Threads &threads;
};

/// Ops whose result is a buffer.
template <typename Op> struct DropBuffer : ConvertTile<Op> {
  using ConvertTile<Op>::ConvertTile;
  LogicalResult
  matchAndRewrite(Op op, typename ConvertTile<Op>::OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, SmallVector<Values>(1));
    return success();
  }
};

struct ConvertCopy : ConvertTile<tile::CopyAsyncOp> {
  using ConvertTile::ConvertTile;
  LogicalResult
  matchAndRewrite(tile::CopyAsyncOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadBuilder t = builderAt(op, rewriter);
    emitCopy(t, op);
    rewriter.replaceOpWithMultiple(op, SmallVector<Values>(1));
    return success();
  }
};

struct ConvertSync : ConvertTile<tile::SyncOp> {
  using ConvertTile::ConvertTile;
  LogicalResult
  matchAndRewrite(tile::SyncOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getWait().empty())
      NVVM::CpAsyncWaitGroupOp::create(rewriter, op.getLoc(), 0);
    NVVM::Barrier0Op::create(rewriter, op.getLoc());
    rewriter.replaceOpWithMultiple(op, SmallVector<Values>(op.getNumResults()));
    return success();
  }
};

struct ConvertDiscard : ConvertTile<tile::DiscardOp> {
  using ConvertTile::ConvertTile;
  LogicalResult
  matchAndRewrite(tile::DiscardOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    NVVM::CpAsyncWaitGroupOp::create(rewriter, op.getLoc(), 0);
    rewriter.replaceOpWithMultiple(op, SmallVector<Values>(1));
    return success();
  }
};

struct ConvertSplat : ConvertTile<tile::SplatOp> {
  using ConvertTile::ConvertTile;
  LogicalResult
  matchAndRewrite(tile::SplatOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Values copies(*registersOf(op.getType()), op.getValue());
    rewriter.replaceOpWithMultiple(op, SmallVector<Values>{copies});
    return success();
  }
};

struct ConvertPlace : ConvertTile<tile::PlaceOp> {
  using ConvertTile::ConvertTile;
  LogicalResult
  matchAndRewrite(tile::PlaceOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadBuilder t = builderAt(op, rewriter);
    FragmentShape shape(cast<FragmentType>(op.getFragment()));
    auto [row, column] = t.place(shape.layout);
    rewriter.replaceOp(op, ValueRange{t.wide(row), t.wide(column)});
    return success();
  }
};

struct ConvertMap : ConvertTile<tile::MapOp> {
  using ConvertTile::ConvertTile;
  LogicalResult
  matchAndRewrite(tile::MapOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadBuilder t = builderAt(op, rewriter);
    rewriter.replaceOpWithMultiple(
        op, SmallVector<Values>{emitMap(t, op, adaptor.getOperands())});
    return success();
  }
};

struct ConvertReduce : ConvertTile<tile::ReduceOp> {
  using ConvertTile::ConvertTile;
  LogicalResult
  matchAndRewrite(tile::ReduceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadBuilder t = builderAt(op, rewriter);
    bool isMax = op.getKind() == tile::Reduction::Max;
    auto join = [&](Value x, Value y) -> Value {
      if (!x)
        return y;
      if (isMax)
        return arith::MaxNumFOp::create(rewriter, t.loc, x, y);
      return arith::AddFOp::create(rewriter, t.loc, x, y);
    };
    ValueRange numbers = adaptor.getOperand();
    auto fragment = dyn_cast<FragmentType>(op.getOperand().getType());
    Values rows(numbers);
    if (fragment) {
      FragmentShape shape(fragment);
      rows.assign(shape.rows(), Value());
      for (auto [reg, number] : llvm::enumerate(numbers)) {
        Value &row = rows[shape.row(static_cast<int64_t>(reg))];
        row = join(row, number);
      }
    }
    if (!fragment || isMax) // lanes that hold the same row are neighbours
      for (Value &row : rows)
        for (int64_t mask : {1, 2})
          row = join(row, t.shuffle(row, mask));
    rewriter.replaceOpWithMultiple(op, SmallVector<Values>{rows});
    return success();
  }
};

/// Sums of two blocks of 8 columns are the left operand of one mma.
struct ConvertConvert : ConvertTile<tile::ConvertOp> {
  using ConvertTile::ConvertTile;
  LogicalResult
  matchAndRewrite(tile::ConvertOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadBuilder t = builderAt(op, rewriter);
    ValueRange from = adaptor.getOperand();
    Values packed;
    for (size_t i = 0; i < from.size(); i += 2)
      packed.push_back(t.pack(from[i], from[i + 1], op.getType().getElement()));
    rewriter.replaceOpWithMultiple(op, SmallVector<Values>{packed});
    return success();
  }
};

/// Ops that write a fragment.
template <typename Op> struct ConvertStore : ConvertTile<Op> {
  using ConvertTile<Op>::ConvertTile;
  LogicalResult
  matchAndRewrite(Op op, typename ConvertTile<Op>::OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadBuilder t = this->builderAt(op, rewriter);
    emitStore(t, op, adaptor.getValue());
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertMma : ConvertTile<tile::MmaOp> {
  using ConvertTile::ConvertTile;
  LogicalResult
  matchAndRewrite(tile::MmaOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadBuilder t = builderAt(op, rewriter);
    rewriter.replaceOpWithMultiple(
        op, SmallVector<Values>{
                emitProduct(t, op, adaptor.getLeft(), adaptor.getSums())});
    return success();
  }
};

struct ConvertRescale : ConvertTile<tile::RescaleOp> {
  using ConvertTile::ConvertTile;
  LogicalResult
  matchAndRewrite(tile::RescaleOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadBuilder t = builderAt(op, rewriter);
    rewriter.replaceOpWithMultiple(
        op, SmallVector<Values>{emitRescale(
                t, op.getType(), adaptor.getOperand(), adaptor.getFactors())});
    return success();
  }
};

struct ConvertAnyNaN : ConvertTile<tile::AnyNaNOp> {
  using ConvertTile::ConvertTile;
  LogicalResult
  matchAndRewrite(tile::AnyNaNOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadBuilder t = builderAt(op, rewriter);
    rewriter.replaceOp(op, emitAnyNaN(t, adaptor.getFragment()));
    return success();
  }
};

struct ConvertSift : ConvertTile<tile::SiftOp> {
  using ConvertTile::ConvertTile;
  LogicalResult
  matchAndRewrite(tile::SiftOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadBuilder t = builderAt(op, rewriter);
    // Else comparisons of the turn would lie in registers through the loop.
    Value turn = copyAgain(rewriter, op.getLoc(), op.getTurn());
    emitSift(t, op.getBuffer().getType(), turn);
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertStoreMarked : ConvertTile<tile::StoreMarkedOp> {
  using ConvertTile::ConvertTile;
  LogicalResult
  matchAndRewrite(tile::StoreMarkedOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadBuilder t = builderAt(op, rewriter);
    emitStoreMarked(t, op, adaptor.getMarks());
    rewriter.eraseOp(op);
    return success();
  }
};

/// The hardware's instruction, with subnormals as 0.
template <typename Op> struct ConvertApproximate : OpConversionPattern<Op> {
  ConvertApproximate(MLIRContext *context, StringRef intrinsic)
      : OpConversionPattern<Op>(context), intrinsic(intrinsic) {}
  StringRef intrinsic;
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::CallIntrinsicOp>(
        op, op.getType(), rewriter.getStringAttr(intrinsic),
        adaptor.getOperands());
    return success();
  }
};
} // namespace

static bool isApproximate(arith::FastMathFlags flags, Type type) {
  return type.isF32() &&
         arith::bitEnumContainsAll(flags, arith::FastMathFlags::afn);
}

namespace {
struct ConvertTileToGPU : attn::impl::ConvertTileToGPUBase<ConvertTileToGPU> {
  /// What is done again, or behind loops, has a thread of its own, which is not
  /// to be known as the same: else its places would lie in registers before.
  Threads readThreads(gpu::GPUFuncOp kernel) {
    Threads threads;
    kernel.walk([&](Operation *op) {
      bool again = op->hasAttr(againName);
      if (op != kernel && !again)
        return;
      Block *block = &op->getRegion(0).front();
      OpBuilder b = OpBuilder::atBlockBegin(block);
      Value number =
          again ? readAgain(b, op->getLoc(), "%tid.x")
                : NVVM::ThreadIdXOp::create(b, op->getLoc(), b.getI32Type());
      threads[block] = threadOf(b, op->getLoc(), number);
    });
    return threads;
  }

  Thread threadOf(OpBuilder &b, Location loc, Value number) {
    Thread thread;
    thread.number = number;
    ThreadBuilder t(b, loc, thread);
    thread.lane = t.bits(number, 0, 5);
    thread.warp = arith::ShRUIOp::create(b, loc, number, t.i32(5));
    auto pointer =
        LLVM::LLVMPointerType::get(b.getContext(), sharedMemorySpace);
    thread.shared =
        LLVM::AddressOfOp::create(b, loc, pointer, sharedMemoryName);
    return thread;
  }

  LogicalResult convert(gpu::GPUFuncOp kernel) {
    MLIRContext *context = &getContext();
    Threads threads = readThreads(kernel);
    TypeConverter types;
    types.addConversion([](Type type) { return type; });
    types.addConversion(
        [](Type type,
           SmallVectorImpl<Type> &parts) -> std::optional<LogicalResult> {
          std::optional<int64_t> count = registersOf(type);
          if (!count)
            return std::nullopt;
          auto fragment = dyn_cast<FragmentType>(type);
          bool isPacked = fragment && !fragment.getElement().isF32();
          Type part = isPacked ? Type(IntegerType::get(type.getContext(), 32))
                               : Type(Float32Type::get(type.getContext()));
          parts.append(*count, part);
          return success();
        });
    RewritePatternSet patterns(context);
    patterns
        .add<DropBuffer<tile::BufferOp>, DropBuffer<tile::EnterOp>,
             DropBuffer<tile::ReuseOp>, ConvertCopy, ConvertSync, ConvertSplat,
             ConvertPlace, ConvertMap, ConvertReduce, ConvertConvert,
             ConvertStore<tile::StoreOp>, ConvertStore<tile::StoreEachOp>,
             ConvertMma, ConvertRescale, ConvertAnyNaN, ConvertSift,
             ConvertStoreMarked, ConvertDiscard>(types, context, threads);
    patterns.add<ConvertApproximate<math::Exp2Op>>(
        context, "llvm.nvvm.ex2.approx.ftz.f");
    patterns.add<ConvertApproximate<math::Log2Op>>(
        context, "llvm.nvvm.lg2.approx.ftz.f");
    patterns.add<ConvertApproximate<arith::DivFOp>>(
        context, "llvm.nvvm.div.approx.ftz.f");
    ConversionTarget target(*context);
    target.addIllegalDialect<tile::TileDialect>();
    target.addDynamicallyLegalOp<math::Exp2Op>([](math::Exp2Op op) {
      return !isApproximate(op.getFastmath(), op.getType());
    });
    target.addDynamicallyLegalOp<math::Log2Op>([](math::Log2Op op) {
      return !isApproximate(op.getFastmath(), op.getType());
    });
    target.addDynamicallyLegalOp<arith::DivFOp>([](arith::DivFOp op) {
      return !isApproximate(op.getFastmath(), op.getType());
    });
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    scf::populateSCFStructuralTypeConversionsAndLegality(types, patterns,
                                                         target);
    return applyPartialConversion(kernel, target, std::move(patterns));
  }

  void runOnOperation() override {
    SmallVector<gpu::GPUFuncOp> kernels;
    getOperation()->walk([&](gpu::GPUFuncOp kernel) {
      bool hasTiles = kernel
                          .walk([](Operation *op) {
                            return isa<tile::TileDialect>(op->getDialect())
                                       ? WalkResult::interrupt()
                                       : WalkResult::advance();
                          })
                          .wasInterrupted();
      if (hasTiles)
        kernels.push_back(kernel);
    });
    for (gpu::GPUFuncOp kernel : kernels)
      if (failed(convert(kernel)))
        return signalPassFailure();
  }
};
} // namespace
