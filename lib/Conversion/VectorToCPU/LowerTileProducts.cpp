// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Picks the code of products of tiles of bf16 (TileProducts.h).
//
// Before:  %a = vector.load %k[%row, %d] : .., vector<16x32xbf16>
//          %x = vector.shape_cast %a : .. to vector<16x16x2xbf16>
//          %b = vector.load %state[%d, %c0] : .., vector<16x16xf32>
//          %f = vector.bitcast %b : .. to vector<16x32xbf16>
//          %y = vector.shape_cast %f : .. to vector<16x16x2xbf16>
//          %s = vector.contract %x, %y, %c : .. into vector<16x16xf32>
//          vector.store %s, %state[%r, %c0]
// After, with `amx` (intrinsics llvm.x86.NAME.internal):
//          %x = tileloadd64 of %k (tileloaddt164, if it is nontemporal)
//          %y = tileloadd64 of %state
//          %s = tdpbf16ps %c, %x, %y
//          tilestored64 %s
// without: %s = scf.for %pair = .. iter_args(16 rows of %c) {
//            a row of %b, and per row of %a a pair of it in all lanes:
//            vector.contract .. into vector<16xf32> }
//
// A tile register has 16 rows of 64 bytes. MLIR's amx dialect has the same ops,
// but none that reads pairs from a memory of f32. LLVM configures the registers
// (ldtilecfg) and releases them in every function that has tiles; loops carry
// tiles as they carry vectors.
//
// The loop reads both operands where they lie in memory, since the rows of a
// vector of rows cannot be counted at run time: no op may write between their
// loads and the product.
//
// Before: any. After: no vector of 16 rows of 64 bytes with `amx`; without, no
// product of tiles.
#include "attn/Conversion/Passes.h"
#include "attn/Conversion/VectorToCPU/Products.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"

namespace attn {
#define GEN_PASS_DEF_LOWERTILEPRODUCTS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

// --- tile registers ---

static constexpr int64_t rowBytes = 64;

/// Whether a value of this type fills a tile register.
static bool fillsTile(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() > 1 && vector.getDimSize(0) == tileSize &&
         vector.getNumElements() * vector.getElementTypeBitWidth() ==
             tileSize * rowBytes * 8;
}

namespace {
/// Calls of the intrinsics, with the rows and the bytes of a row first.
struct TileEmitter {
  OpBuilder &b;
  Location loc;

  Value constant(int64_t value) const {
    return arith::ConstantOp::create(
        b, loc, b.getI16IntegerAttr(static_cast<int16_t>(value)));
  }
  Operation *call(StringRef name, ValueRange operands, bool result = true) {
    SmallVector<Value> all{constant(tileSize), constant(rowBytes)};
    llvm::append_range(all, operands);
    StringAttr full = b.getStringAttr("llvm.x86." + name + ".internal");
    if (!result)
      return LLVM::CallIntrinsicOp::create(b, loc, full, all);
    Type tile = LLVM::LLVMX86AMXType::get(b.getContext());
    return LLVM::CallIntrinsicOp::create(b, loc, tile, full, all);
  }

  Value asI64(Value index) const {
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  }
  Value bytes(Value elements, int64_t each) const {
    return asI64(arith::MulIOp::create(
        b, loc, elements, arith::ConstantIndexOp::create(b, loc, each)));
  }
  /// The address of matrix[row][column], and the bytes between rows.
  SmallVector<Value> place(Value matrix, ValueRange position) const {
    auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, matrix);
    Value stride = metadata.getStrides()[0];
    Value element = arith::MulIOp::create(b, loc, position[0], stride);
    element = arith::AddIOp::create(b, loc, element, position[1]);
    element = arith::AddIOp::create(b, loc, element, metadata.getOffset());
    int64_t each =
        cast<MemRefType>(matrix.getType()).getElementTypeBitWidth() / 8;
    Value base =
        asI64(memref::ExtractAlignedPointerAsIndexOp::create(b, loc, matrix));
    Value address = arith::AddIOp::create(b, loc, base, bytes(element, each));
    Value pointer = LLVM::IntToPtrOp::create(
        b, loc, LLVM::LLVMPointerType::get(b.getContext()), address);
    return {pointer, bytes(stride, each)};
  }
};

struct LowerZero : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
    if (!splat || !splat.getElementType().isF32() ||
        !splat.getSplatValue<APFloat>().isPosZero())
      return rewriter.notifyMatchFailure(op, "only 0 is made in a register");
    TileEmitter e{rewriter, op.getLoc()};
    rewriter.replaceOp(op, e.call("tilezero", {}));
    return success();
  }
};

struct LowerLoad : OpConversionPattern<vector::LoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(vector::LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getMemRefType().getRank() != 2)
      return rewriter.notifyMatchFailure(op, "tiles are parts of matrices");
    TileEmitter e{rewriter, op.getLoc()};
    rewriter.replaceOp(
        op, e.call(op.getNontemporal() ? "tileloaddt164" : "tileloadd64",
                   e.place(adaptor.getBase(), adaptor.getIndices())));
    return success();
  }
};

struct LowerStore : OpConversionPattern<vector::StoreOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(vector::StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getMemRefType().getRank() != 2)
      return rewriter.notifyMatchFailure(op, "tiles are parts of matrices");
    TileEmitter e{rewriter, op.getLoc()};
    SmallVector<Value> operands =
        e.place(adaptor.getBase(), adaptor.getIndices());
    operands.push_back(adaptor.getValueToStore());
    e.call("tilestored64", operands, /*result=*/false);
    rewriter.eraseOp(op);
    return success();
  }
};

/// The same bits in the same register.
template <typename Cast> struct LowerCast : OpConversionPattern<Cast> {
  using OpConversionPattern<Cast>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(Cast op, typename Cast::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!fillsTile(op.getSource().getType()) ||
        !fillsTile(op.getResult().getType()))
      return rewriter.notifyMatchFailure(op, "not from tile to tile");
    rewriter.replaceOp(op, adaptor.getSource());
    return success();
  }
};

struct LowerProduct : OpConversionPattern<vector::ContractionOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(vector::ContractionOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isTileProduct(op))
      return rewriter.notifyMatchFailure(op, "not a product of tiles");
    TileEmitter e{rewriter, op.getLoc()};
    rewriter.replaceOp(
        op, e.call("tdpbf16ps", {e.constant(rowBytes), adaptor.getAcc(),
                                 adaptor.getLhs(), adaptor.getRhs()}));
    return success();
  }
};
} // namespace

/// Every use of a constant has one of its own, right in front: no instruction
/// copies a tile register, so LLVM would copy through memory.
static void separateConstants(ModuleOp module) {
  SmallVector<arith::ConstantOp> constants;
  module.walk([&](arith::ConstantOp op) {
    if (fillsTile(op.getType()))
      constants.push_back(op);
  });
  for (arith::ConstantOp op : constants) {
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses()))
      use.set(OpBuilder(use.getOwner()).clone(*op)->getResult(0));
    op.erase();
  }
}

static LogicalResult useTileRegisters(ModuleOp module) {
  separateConstants(module);
  MLIRContext *context = module.getContext();
  TypeConverter types;
  types.addConversion([](Type type) { return type; });
  types.addConversion([](VectorType type) -> Type {
    if (fillsTile(type))
      return LLVM::LLVMX86AMXType::get(type.getContext());
    return type;
  });
  RewritePatternSet patterns(context);
  patterns.add<LowerZero, LowerLoad, LowerStore, LowerCast<vector::BitCastOp>,
               LowerCast<vector::ShapeCastOp>, LowerProduct>(types, context);
  ConversionTarget target(*context);
  target.addDynamicallyLegalOp<arith::ConstantOp, vector::LoadOp,
                               vector::StoreOp, vector::BitCastOp,
                               vector::ShapeCastOp, vector::ContractionOp>(
      [&](Operation *op) { return types.isLegal(op); });
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  scf::populateSCFStructuralTypeConversionsAndLegality(types, patterns, target);
  return applyPartialConversion(module, target, std::move(patterns));
}

// --- loops ---

/// The load of an operand of a product, or null where it is something else or
/// memory may have changed since.
static vector::LoadOp loadOf(Value operand, Operation *product) {
  if (auto cast = operand.getDefiningOp<vector::ShapeCastOp>())
    operand = cast.getSource();
  if (auto cast = operand.getDefiningOp<vector::BitCastOp>())
    operand = cast.getSource();
  auto load = operand.getDefiningOp<vector::LoadOp>();
  if (!load || load->getBlock() != product->getBlock() ||
      load.getMemRefType().getRank() != 2)
    return {};
  for (Operation *op = load; op != product; op = op->getNextNode())
    if (!isMemoryEffectFree(op) && !isa<memref::PrefetchOp>(op) &&
        !hasSingleEffect<MemoryEffects::Read>(op))
      return {};
  return load;
}

namespace {
/// A matrix of pairs in memory, of bf16 or of f32, from a position on.
struct Pairs {
  vector::LoadOp load;
  OpBuilder &b;

  /// `count` pairs of a row as f32.
  Value at(Value row, Value pair, int64_t count) {
    Location loc = load.getLoc();
    bool inPairs = load.getMemRefType().getElementType().isF32();
    Value column = pair;
    if (!inPairs)
      column = arith::MulIOp::create(b, loc, pair,
                                     arith::ConstantIndexOp::create(b, loc, 2));
    auto add = [&](Value x, Value y) -> Value {
      return arith::AddIOp::create(b, loc, x, y);
    };
    Value numbers = vector::LoadOp::create(
        b, loc,
        VectorType::get(inPairs ? count : 2 * count,
                        load.getMemRefType().getElementType()),
        load.getBase(),
        ValueRange{add(load.getIndices()[0], row),
                   add(load.getIndices()[1], column)});
    if (inPairs)
      return numbers;
    return vector::BitCastOp::create(
        b, loc, VectorType::get(count, b.getF32Type()), numbers);
  }
};

struct Product {
  vector::ContractionOp op;
  vector::LoadOp a, b;
};
} // namespace

/// All rows of the sums take the products of one pair per row of A with one row
/// of B, pair by pair.
static void lowerToLoop(Product product) {
  vector::ContractionOp op = product.op;
  Location loc = op.getLoc();
  OpBuilder b(op);
  auto index = [&](int64_t i) -> Value {
    return arith::ConstantIndexOp::create(b, loc, i);
  };
  SmallVector<Value> rows;
  for (int64_t r = 0; r < tileSize; ++r)
    rows.push_back(vector::ExtractOp::create(b, loc, op.getAcc(), r));
  auto loop = scf::ForOp::create(
      b, loc, index(0), index(tileSize), index(1), rows,
      [&](OpBuilder &, Location, Value pair, ValueRange sums) {
        Value row = Pairs{product.b, b}.at(pair, index(0), tileSize);
        SmallVector<Value> next;
        for (int64_t r = 0; r < tileSize; ++r) {
          Value one = Pairs{product.a, b}.at(index(r), pair, 1);
          Value all = vector::BroadcastOp::create(
              b, loc, row.getType(), vector::ExtractOp::create(b, loc, one, 0));
          next.push_back(pairProduct(b, loc, all, row, sums[r]));
        }
        scf::YieldOp::create(b, loc, next);
      });
  Value result = op.getAcc();
  for (int64_t r = 0; r < tileSize; ++r)
    result = vector::InsertOp::create(b, loc, loop.getResult(r), result, r);
  op.replaceAllUsesWith(result);
  op.erase();
}

/// A store of several rows becomes one of each.
static void storeRows(vector::StoreOp op) {
  OpBuilder b(op);
  for (int64_t r = 0; r < tileSize; ++r) {
    Value row = arith::AddIOp::create(
        b, op.getLoc(), op.getIndices()[0],
        arith::ConstantIndexOp::create(b, op.getLoc(), r));
    vector::StoreOp::create(
        b, op.getLoc(),
        vector::ExtractOp::create(b, op.getLoc(), op.getValueToStore(), r),
        op.getBase(), ValueRange{row, op.getIndices()[1]});
  }
  op.erase();
}

/// A load of several rows that is used becomes one of each.
static void loadRows(vector::LoadOp op) {
  OpBuilder b(op);
  auto row = VectorType::get(op.getType().getShape().drop_front(),
                             op.getType().getElementType());
  Value result =
      arith::ConstantOp::create(b, op.getLoc(), b.getZeroAttr(op.getType()));
  for (int64_t r = 0; r < tileSize; ++r) {
    Value at = arith::AddIOp::create(
        b, op.getLoc(), op.getIndices()[0],
        arith::ConstantIndexOp::create(b, op.getLoc(), r));
    Value one = vector::LoadOp::create(b, op.getLoc(), row, op.getBase(),
                                       ValueRange{at, op.getIndices()[1]});
    result = vector::InsertOp::create(b, op.getLoc(), one, result, r);
  }
  op.replaceAllUsesWith(result);
  op.erase();
}

static LogicalResult useLoops(ModuleOp module) {
  SmallVector<Product> products;
  WalkResult known = module.walk([&](vector::ContractionOp op) {
    if (!isTileProduct(op))
      return WalkResult::advance();
    Product product{op, loadOf(op.getLhs(), op), loadOf(op.getRhs(), op)};
    if (!product.a || !product.b) {
      op.emitOpError("expects a product of tiles to have loads of matrices as "
                     "operands, with no write of memory in between");
      return WalkResult::interrupt();
    }
    products.push_back(product);
    return WalkResult::advance();
  });
  if (known.wasInterrupted())
    return failure();
  for (const Product &product : products)
    lowerToLoop(product);
  SmallVector<vector::StoreOp> stores;
  module.walk([&](vector::StoreOp op) {
    if (fillsTile(op.getValueToStore().getType()) &&
        op.getMemRefType().getRank() == 2)
      stores.push_back(op);
  });
  llvm::for_each(stores, storeRows);
  module->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (llvm::any_of(op->getResultTypes(), fillsTile) && isOpTriviallyDead(op))
      op->erase();
  });
  SmallVector<vector::LoadOp> loads;
  module.walk([&](vector::LoadOp op) {
    if (fillsTile(op.getType()) && op.getMemRefType().getRank() == 2)
      loads.push_back(op);
  });
  llvm::for_each(loads, loadRows);
  return success();
}

namespace {
struct LowerTileProducts
    : attn::impl::LowerTileProductsBase<LowerTileProducts> {
  using LowerTileProductsBase::LowerTileProductsBase;

  void runOnOperation() override {
    WalkResult tiles = getOperation()->walk([](Operation *op) {
      return llvm::any_of(op->getResultTypes(), fillsTile)
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (!tiles.wasInterrupted())
      return markAllAnalysesPreserved();
    bool works = succeeded(amx ? useTileRegisters(getOperation())
                               : useLoops(getOperation()));
    if (!works)
      signalPassFailure();
  }
};
} // namespace
