// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops of memref and vector that the LLVM dialect has no counterpart of become
// ops that it has one of.
//
// Before:  %m = vector.create_mask %n : vector<4xi1>
// After:   %lanes = arith.constant dense<[0, 1, 2, 3]> : vector<4xi32>
//          %n32 = arith.index_cast %n : index to i32
//          %all = vector.broadcast %n32 : i32 to vector<4xi32>
//          %m = arith.cmpi sgt, %all, %lanes : vector<4xi32>
//
// The patterns are MLIR's, the same as in its passes expand-strided-metadata
// and convert-vector-to-llvm. Those try every op of the module until nothing
// changes, simplify its blocks, and convert it once more than is needed. Here
// ops of the two dialects are tried, and what comes of them.
//
// Before: any. After: convert-to-llvm has a pattern for each op of memref and
// vector.
#include "attn/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace attn {
#define GEN_PASS_DEF_EXPANDFORLLVM
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;

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
  // What is left has no pattern: the check of the phase names it.
  (void)applyOpPatternsGreedily(ops, std::move(patterns), config);
}

namespace {
struct ExpandForLLVM : attn::impl::ExpandForLLVMBase<ExpandForLLVM> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    apply<memref::MemRefDialect>(getOperation(), subviewPatterns(context));
    apply<vector::VectorDialect>(getOperation(), vectorPatterns(context));
  }
};
} // namespace
