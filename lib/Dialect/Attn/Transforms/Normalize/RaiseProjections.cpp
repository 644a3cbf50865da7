// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products of linalg become projections, which have fast kernels.
//
// Before:  %zero = linalg.fill ins(%c0) outs(%empty)
//          %y = linalg.matmul ins(%x, %w) outs(%zero)
// After:   %y = attn.project %x, %w
//
// Before:  %start = linalg.broadcast ins(%b) outs(%empty) dimensions = [0]
//          %y = linalg.matmul ins(%x, %w) outs(%start)
// After:   %y = attn.project %x, %w, %b
//
// linalg.batch_matmul is taken too where one weight serves the whole batch: its
// map has no batch. A weight that is read transposed becomes a transposed
// constant if it is one; at run time that copy would cost more than it saves
// where the input has few rows.
//
// What stays linalg gets a remark: products of other types, with a weight per
// batch entry or of sizes known at run time only, transposed weights that are
// no constants, transposed inputs, and sums that begin elsewhere.
//
// Before: any level. After: the same, with fewer linalg ops.
#include "ConstantMatrix.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"

namespace attn {
#define GEN_PASS_DEF_RAISEPROJECTIONS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// A product that can become a projection.
struct Product {
  Value input, weight;
  Value bias;              // null: none
  ElementsAttr transposed; // instead of the weight, if not null
};

/// Either a product or why there is none.
struct Match {
  Product product;
  StringRef reason;
};
} // namespace

/// Whether `map` gives the dimensions `dims` in this order.
static bool reads(AffineMap map, ArrayRef<unsigned> dims) {
  return map == AffineMap::getMultiDimMapWithTargets(map.getNumDims(), dims,
                                                     map.getContext());
}

/// Whether all sums begin at 0, or at a bias per column.
static bool beginsAtBias(Value init, Value &bias) {
  if (matchPattern(init, m_AnyZeroFloat()))
    return true;
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    return matchPattern(fill.value(), m_AnyZeroFloat());
  auto broadcast = init.getDefiningOp<linalg::BroadcastOp>();
  if (!broadcast ||
      cast<ShapedType>(broadcast.getInput().getType()).getRank() != 1 ||
      llvm::is_contained(broadcast.getDimensions(),
                         cast<ShapedType>(init.getType()).getRank() - 1))
    return false;
  bias = broadcast.getInput();
  return true;
}

/// The constant weight (N x K) as K x N.
static ElementsAttr transpose(Value weight) {
  auto type = cast<RankedTensorType>(weight.getType());
  int64_t columns = type.getDimSize(0), depth = type.getDimSize(1);
  return rearrangeConstant(
      weight, RankedTensorType::get({depth, columns}, type.getElementType()),
      [&](int64_t i) { return i % columns * depth + i / columns; });
}

static Match match(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics())
    return {{}, "it works on buffers"};
  Product product{op.getDpsInputs()[0], op.getDpsInputs()[1], {}, {}};
  auto weight = cast<RankedTensorType>(product.weight.getType());
  auto result = cast<RankedTensorType>(op.getDpsInits()[0].getType());
  Type element = result.getElementType();
  if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element) ||
      weight.getElementType() != element ||
      getElementTypeOrSelf(product.input) != element)
    return {{}, "its operands are not of one type f16, bf16, f32 or f64"};
  // Dimensions of the loops: batch (if any), row, column, depth.
  unsigned row = op.getNumLoops() - 3, column = row + 1, depth = row + 2;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto batched = [&](unsigned first, unsigned second) {
    SmallVector<unsigned> dims{first, second};
    if (row)
      dims.insert(dims.begin(), 0);
    return dims;
  };
  if (!reads(maps[0], batched(row, depth)) ||
      !reads(maps[2], batched(row, column)))
    return {{}, "its input is transposed or broadcast"};
  bool transposed = reads(maps[1], {column, depth});
  if (!transposed && !reads(maps[1], {depth, column}))
    return {{}, "its weight is not one matrix for all rows"};
  if (!weight.hasStaticShape())
    return {{}, "the sizes of its weight are known at run time only"};
  if (!beginsAtBias(op.getDpsInits()[0], product.bias))
    return {{}, "its sums begin neither at 0 nor at a bias per column"};
  if (transposed && !(product.transposed = transpose(product.weight)))
    return {{}, "its weight is transposed and not a constant"};
  return {product, {}};
}

static void raise(linalg::LinalgOp op, IRRewriter &rewriter) {
  auto [product, reason] = match(op);
  if (!reason.empty()) {
    remark::missed(op.getLoc(), remark::RemarkOpts::name("NotAProjection")
                                    .category("attn-raise-projections"))
        << (op->getName().getStringRef() + " stays: " + reason).str();
    return;
  }
  rewriter.setInsertionPoint(op);
  Value weight = product.weight;
  if (product.transposed)
    weight =
        arith::ConstantOp::create(rewriter, op.getLoc(), product.transposed);
  rewriter.replaceOpWithNewOp<ProjectOp>(op, op->getResult(0).getType(),
                                         product.input, weight, product.bias,
                                         /*schedule=*/ScheduleInterface());
}

namespace {
struct RaiseProjections : attn::impl::RaiseProjectionsBase<RaiseProjections> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (isa<linalg::MatmulOp, linalg::BatchMatmulOp>(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops)
      raise(op, rewriter);
  }
};
} // namespace
