// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-lower-products: products are loops over the elements of their results.
//
// Before:  %y = attn.project %x, %w, %bias
//              : (tensor<?x6xf16>, tensor<6x4xf16>, tensor<4xf16>) ->
//              tensor<?x4xf16>
// After:   %y = scf.forall (%i, %n) in (%rows, 4) shared_outs(%out = %empty) {
//            %sum = scf.for %k = 0 to 6 iter_args(%s = %bias[%n]) {
//              // %s + %x[%i, %k] * %w[%k, %n], in f32
//            }
//            // rounded once, and inserted at [%i, %n] of %out
//          }
//
// For a GPU: an element is a thread's, and threads next to each other read
// elements of the weight that lie next to each other. This is the simple way,
// in which no tile is kept near.
//
// Before: attn.project. After: none.
#include "SumType.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace attn {
#define GEN_PASS_DEF_LOWERPRODUCTS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// Writes the loops of one product.
struct ProductLoops {
  ProjectOp op;
  OpBuilder b;
  Location loc;
  FloatType wide;

  explicit ProductLoops(ProjectOp op)
      : op(op), b(op), loc(op.getLoc()),
        wide(sumType(op.getType().getElementType())) {}

  Value load(Value tensor, ValueRange at) {
    Value element = tensor::ExtractOp::create(b, loc, tensor, at);
    return element.getType() == wide
               ? element
               : arith::ExtFOp::create(b, loc, wide, element).getResult();
  }
  Value sumAt(ValueRange place);
  void lower();
};
} // namespace

/// The element of the result at `place`, before it is rounded.
Value ProductLoops::sumAt(ValueRange place) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value column = place.back();
  Value depth = tensor::DimOp::create(b, loc, op.getWeight(), op.depthDim());
  Value first =
      op.getBias()
          ? load(op.getBias(), column)
          : arith::ConstantOp::create(b, loc, b.getFloatAttr(wide, 0.0))
                .getResult();
  auto loop = scf::ForOp::create(b, loc, zero, depth, one, first);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value k = loop.getInductionVar();
  SmallVector<Value> inInput(place.drop_back()), inWeight;
  inInput.push_back(k);
  if (op.hasWeights())
    inWeight.push_back(place.front());
  inWeight.append(
      {op.getTransposed() ? column : k, op.getTransposed() ? k : column});
  Value next = math::FmaOp::create(b, loc, load(op.getInput(), inInput),
                                   load(op.getWeight(), inWeight),
                                   loop.getRegionIterArg(0));
  scf::YieldOp::create(b, loc, next);
  return loop.getResult(0);
}

void ProductLoops::lower() {
  RankedTensorType type = op.getType();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, loc, op.getInput());
  sizes.back() = tensor::getMixedSize(b, loc, op.getWeight(), op.columnDim());
  Value empty = tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
  auto loop = scf::ForallOp::create(b, loc, sizes, empty, std::nullopt);
  b.setInsertionPoint(loop.getTerminator());
  SmallVector<Value> place = loop.getInductionVars();
  Value sum = sumAt(place);
  if (wide != type.getElementType())
    sum = arith::TruncFOp::create(b, loc, type.getElementType(), sum);
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> offsets(place.begin(), place.end());
  SmallVector<OpFoldResult> ones(rank, b.getIndexAttr(1));
  Value out = loop.getRegionIterArgs().front();
  Value cell = tensor::ExtractSliceOp::create(b, loc, out, offsets, ones, ones);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  cell = tensor::InsertOp::create(b, loc, sum, cell,
                                  SmallVector<Value>(rank, zero));
  b.setInsertionPointToStart(loop.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(b, loc, cell, out, offsets, ones, ones);
  Value result = loop.getResult(0);
  b.setInsertionPointAfter(loop);
  if (result.getType() != type)
    result = tensor::CastOp::create(b, loc, type, result);
  op.replaceAllUsesWith(result);
  op.erase();
}

namespace {
struct LowerProducts : attn::impl::LowerProductsBase<LowerProducts> {
  void runOnOperation() override {
    SmallVector<ProjectOp> products;
    getOperation()->walk([&](ProjectOp op) { products.push_back(op); });
    for (ProjectOp op : products)
      ProductLoops(op).lower();
  }
};
} // namespace
