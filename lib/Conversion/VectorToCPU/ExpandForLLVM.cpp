// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops of memref, vector and affine that the LLVM dialect has no counterpart of
// become ops that it has one of.
//
// Before:  %m = vector.create_mask %n : vector<4xi1>
// After:   %lanes = arith.constant dense<[0, 1, 2, 3]> : vector<4xi32>
//          %n32 = arith.index_cast %n : index to i32
//          %all = vector.broadcast %n32 : i32 to vector<4xi32>
//          %m = arith.cmpi sgt, %all, %lanes : vector<4xi32>
//
// The patterns are MLIR's, the same as in its passes expand-strided-metadata,
// convert-vector-to-llvm and lower-affine. Those try every op of the module
// until nothing changes, simplify its blocks, and convert it twice more than is
// needed. Here ops of the three dialects are tried, and what comes of them.
//
// Vectors in memory get their alignment, that of an element. convert-to-llvm
// asks LLVM for it otherwise, with a context made for each op (seen in 22.1),
// which takes a fifth of its time.
//
// Before: any. After: convert-to-llvm has a pattern for each op of the three.
#include "attn/Conversion/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/TypeSwitch.h"

namespace attn {
#define GEN_PASS_DEF_EXPANDFORLLVM
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;

/// Whether `group` has several sizes that `type` does not know.
static bool hasUnknownSizes(MemRefType type,
                            const ReassociationIndices &group) {
  return llvm::count_if(
             group, [&](int64_t dim) { return type.isDynamicDim(dim); }) > 1;
}

/// The view `op` makes, of the buffer under `source`, by what its type does not
/// know of offset, sizes and strides.
static void replaceByView(PatternRewriter &b, Operation *op,
                          memref::ExtractStridedMetadataOp source,
                          ArrayRef<Value> sizes, ArrayRef<Value> strides) {
  auto type = cast<MemRefType>(op->getResult(0).getType());
  auto [knownStrides, knownOffset] = type.getStridesAndOffset();
  auto mixed = [&](int64_t known, Value value) {
    return ShapedType::isDynamic(known) ? OpFoldResult(value)
                                        : b.getIndexAttr(known);
  };
  SmallVector<OpFoldResult> mixedSizes, mixedStrides;
  for (auto [known, size] : llvm::zip_equal(type.getShape(), sizes))
    mixedSizes.push_back(mixed(known, size));
  for (auto [known, stride] : llvm::zip_equal(knownStrides, strides))
    mixedStrides.push_back(mixed(known, stride));
  b.replaceOpWithNewOp<memref::ReinterpretCastOp>(
      op, type, source.getBaseBuffer(), mixed(knownOffset, source.getOffset()),
      mixedSizes, mixedStrides);
}

namespace {
// MLIR's patterns fail where several unknown dimensions become one, or one
// becomes several (seen in 22.1). These come first, as others of MLIR's look at
// where a view comes from.

/// The sizes multiplied, with the last one's stride.
struct JoinUnknownSizes : OpRewritePattern<memref::CollapseShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::CollapseShapeOp op,
                                PatternRewriter &b) const override {
    Location loc = op.getLoc();
    MemRefType from = op.getSrcType();
    auto groups = op.getReassociationIndices();
    if (llvm::none_of(groups, [&](const ReassociationIndices &group) {
          return hasUnknownSizes(from, group);
        }))
      return failure();
    auto source = memref::ExtractStridedMetadataOp::create(b, loc, op.getSrc());
    SmallVector<Value> sizes, strides;
    for (const ReassociationIndices &group : groups) {
      Value size = source.getSizes()[group.front()];
      int64_t last = group.back();
      for (int64_t dim : ArrayRef(group).drop_front())
        size = arith::MulIOp::create(b, loc, size, source.getSizes()[dim]);
      while (last > group.front() && from.getDimSize(last) == 1)
        --last;
      sizes.push_back(size);
      strides.push_back(source.getStrides()[last]);
    }
    replaceByView(b, op, source, sizes, strides);
    return success();
  }
};

/// The sizes that the op is told; each stride is the next one times its size.
struct SplitUnknownSizes : OpRewritePattern<memref::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::ExpandShapeOp op,
                                PatternRewriter &b) const override {
    Location loc = op.getLoc();
    auto groups = op.getReassociationIndices();
    if (llvm::none_of(groups, [&](const ReassociationIndices &group) {
          return hasUnknownSizes(op.getResultType(), group);
        }))
      return failure();
    auto source = memref::ExtractStridedMetadataOp::create(b, loc, op.getSrc());
    SmallVector<Value> sizes = getValueOrCreateConstantIndexOp(
        b, loc,
        getMixedValues(op.getStaticOutputShape(), op.getOutputShape(), b));
    SmallVector<Value> strides(sizes.size());
    for (auto [i, group] : llvm::enumerate(groups)) {
      Value stride = source.getStrides()[i];
      for (int64_t dim : llvm::reverse(group)) {
        strides[dim] = stride;
        stride = arith::MulIOp::create(b, loc, stride, sizes[dim]);
      }
    }
    replaceByView(b, op, source, sizes, strides);
    return success();
  }
};
} // namespace

static RewritePatternSet joinPatterns(MLIRContext *context) {
  RewritePatternSet patterns(context);
  patterns.add<JoinUnknownSizes, SplitUnknownSizes>(context);
  return patterns;
}

static RewritePatternSet subviewPatterns(MLIRContext *context) {
  RewritePatternSet patterns(context);
  memref::populateExpandStridedMetadataPatterns(patterns);
  return patterns;
}

static RewritePatternSet vectorPatterns(MLIRContext *context) {
  RewritePatternSet patterns(context);
  vector::populateVectorToVectorCanonicalizationPatterns(patterns);
  vector::populateVectorBitCastLoweringPatterns(patterns);
  vector::populateVectorBroadcastLoweringPatterns(patterns);
  vector::populateVectorGatherLoweringPatterns(patterns);
  vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
  vector::populateVectorInterleaveLoweringPatterns(patterns);
  vector::populateVectorMaskMaterializationPatterns(
      patterns, /*force32BitVectorIndices=*/true);
  vector::populateVectorMaskOpLoweringPatterns(patterns);
  vector::populateVectorRankReducingFMAPattern(patterns);
  vector::populateVectorShapeCastLoweringPatterns(patterns);
  vector::populateVectorStepLoweringPatterns(patterns);
  vector::populateVectorTransposeLoweringPatterns(
      patterns, vector::VectorTransposeLowering::EltWise);
  return patterns;
}

static RewritePatternSet affinePatterns(MLIRContext *context) {
  RewritePatternSet patterns(context);
  populateAffineToStdConversionPatterns(patterns);
  return patterns;
}

template <typename Dialect>
static void apply(ModuleOp module, RewritePatternSet patterns) {
  SmallVector<Operation *> ops;
  module->walk([&](Operation *op) {
    if (isa_and_nonnull<Dialect>(op->getDialect()))
      ops.push_back(op);
  });
  if (ops.empty())
    return;
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  // Else each change tries the loops around it too, all of whose ops are looked
  // at to see whether they are needed.
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
  // What is left has no pattern: the check of the phase names it.
  (void)applyOpPatternsGreedily(ops, std::move(patterns), config);
}

template <typename Access> static void align(Access access) {
  Type element = access.getVectorType().getElementType();
  if (!access.getAlignment() && element.isIntOrFloat())
    access.setAlignment(llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
}

static void alignVectors(ModuleOp module) {
  module->walk([](Operation *op) {
    TypeSwitch<Operation *>(op)
        .Case<vector::LoadOp, vector::StoreOp, vector::MaskedLoadOp,
              vector::MaskedStoreOp, vector::GatherOp, vector::ScatterOp>(
            [](auto access) { align(access); });
  });
}

namespace {
struct ExpandForLLVM : attn::impl::ExpandForLLVMBase<ExpandForLLVM> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    ModuleOp module = getOperation();
    apply<memref::MemRefDialect>(module, joinPatterns(context));
    apply<memref::MemRefDialect>(module, subviewPatterns(context));
    apply<vector::VectorDialect>(module, vectorPatterns(context));
    apply<affine::AffineDialect>(module, affinePatterns(context));
    alignVectors(module);
  }
};
} // namespace
