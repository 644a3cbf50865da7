// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Projections of one input become one product.
//
// Before:  %q = attn.project %x, %wq : (tensor<?x384xf32>, tensor<384x384xf32>)
//          %k = attn.project %x, %wk : (tensor<?x384xf32>, tensor<384x96xf32>)
//          %keys = arith.addf %k, %rows_of_bk
// After:   %all = attn.project %x, %w, %b    // [wq wk], [0 bk]: 480 columns
//          %q = tensor.extract_slice %all[0, 0] [%n, 384] ..
//          %keys = tensor.extract_slice %all[0, 384] [%n, 96] ..
//
// The input is read and copied for its kernel once, and there is one parallel
// loop in place of three. Attention reads the slices where they are.
//
// Only constant weights are put side by side: the compiler does that. A bias is
// an operand of the product, or constant rows that are added behind it in f32
// or f64 (16 bits would be rounded in between). More than a bias behind a
// product, as the gate of SwiGLU has, is computed with its sums, which is worth
// more: it stays, and a remark says so.
//
// Before: attentions are fused. After: the same.
#include "ConstantMatrix.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"

namespace attn {
#define GEN_PASS_DEF_MERGEPROJECTIONS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// A product and the constant rows that are added to it.
struct Part {
  ProjectOp op;
  Value result; ///< with the bias
  Value bias;   ///< null: none

  int64_t columns() { return op.getType().getShape().back(); }
};
} // namespace

static bool isConstant(Value value) {
  return matchPattern(value, m_Constant());
}

/// The constant row that `op` adds to `product`; null if it does something
/// else.
static Value addedRow(Operation *op, Value product) {
  auto add = dyn_cast<arith::AddFOp>(op);
  if (!add || add.getLhs() == add.getRhs() ||
      getElementTypeOrSelf(product).getIntOrFloatBitWidth() < 32)
    return {};
  Value other = add.getLhs() == product ? add.getRhs() : add.getLhs();
  auto rows = other.getDefiningOp<linalg::BroadcastOp>();
  bool isRow =
      rows && cast<ShapedType>(rows.getInput().getType()).getRank() == 1 &&
      !llvm::is_contained(rows.getDimensions(),
                          cast<ShapedType>(other.getType()).getRank() - 1);
  return isRow && isConstant(rows.getInput()) ? rows.getInput() : Value();
}

static SmallVector<Operation *> readersOf(Value value) {
  SmallVector<Operation *> readers(value.getUsers());
  llvm::erase_if(readers, [](Operation *op) { return isa<tensor::DimOp>(op); });
  return readers;
}

static Part partOf(ProjectOp op) {
  Part part{op, op.getResult(), op.getBias()};
  SmallVector<Operation *> readers = readersOf(op.getResult());
  if (part.bias || readers.size() != 1)
    return part;
  if (Value row = addedRow(readers.front(), part.result)) {
    part.bias = row;
    part.result = readers.front()->getResult(0);
  }
  return part;
}

/// Why a product is not merged; empty: it can be.
static StringRef misfit(Part &part) {
  if (!isConstant(part.op.getWeight()) || (part.bias && !isConstant(part.bias)))
    return "its weight or bias is no constant";
  auto isView = [](Operation *op) {
    return isa<SdpaOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
               tensor::CastOp, tensor::ExtractSliceOp, linalg::TransposeOp>(op);
  };
  return llvm::all_of(readersOf(part.result), isView)
             ? StringRef()
             : "what follows is computed with its sums";
}

static void explain(ProjectOp op, StringRef reason) {
  remark::missed(
      op.getLoc(),
      remark::RemarkOpts::name("NotMerged").category("attn-merge-projections"))
      << ("not multiplied with the other weights of its input: " + reason)
             .str();
}

/// Weights side by side, and biases, as constants; null if their bytes are not
/// at hand.
static std::pair<ElementsAttr, ElementsAttr>
sideBySide(MutableArrayRef<Part> parts) {
  SmallVector<std::pair<size_t, int64_t>> columns; // part, its column
  SmallVector<Value> weights, biases;
  bool hasBias = false;
  for (auto [i, part] : llvm::enumerate(parts)) {
    for (int64_t n = 0; n < part.columns(); ++n)
      columns.push_back({i, n});
    weights.push_back(part.op.getWeight());
    biases.push_back(part.bias);
    hasBias |= bool(part.bias);
  }
  RankedTensorType first = parts.front().op.getWeight().getType();
  int64_t depth = first.getDimSize(parts.front().op.depthDim()),
          total = static_cast<int64_t>(columns.size());
  auto weight = joinConstants(
      weights, RankedTensorType::get({depth, total}, first.getElementType()),
      [&](int64_t i) {
        auto [part, column] = columns[i % total];
        int64_t row = i / total;
        return std::pair(part, parts[part].op.getTransposed()
                                   ? column * depth + row
                                   : row * parts[part].columns() + column);
      });
  if (!weight || !hasBias)
    return {weight, {}};
  Type element = parts.front().op.getType().getElementType();
  for (Part &part : parts)
    if (part.bias)
      element = getElementTypeOrSelf(part.bias);
  auto bias = joinConstants(biases, RankedTensorType::get({total}, element),
                            [&](int64_t i) { return columns[i]; });
  return {bias ? weight : ElementsAttr(), bias};
}

/// One product for all `parts`, and slices in place of theirs.
static void merge(MutableArrayRef<Part> parts, IRRewriter &rewriter) {
  auto [weight, bias] = sideBySide(parts);
  if (!weight)
    return;
  ProjectOp first = parts.front().op;
  Location loc = first.getLoc();
  rewriter.setInsertionPoint(first);
  SmallVector<int64_t> shape(first.getType().getShape());
  shape.back() = cast<ShapedType>(weight.getType()).getDimSize(1);
  Value joined =
      arith::ConstantOp::create(rewriter, loc, cast<TypedAttr>(weight));
  Value rows;
  if (bias)
    rows = arith::ConstantOp::create(rewriter, loc, cast<TypedAttr>(bias));
  Value all = ProjectOp::create(
      rewriter, loc,
      RankedTensorType::get(shape, first.getType().getElementType()),
      first.getInput(), joined, /*transposed=*/false, rows,
      first.getScheduleAttr(), first.getFewRowsScheduleAttr());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, all),
                            offsets(sizes.size(), rewriter.getIndexAttr(0)),
                            strides(sizes.size(), rewriter.getIndexAttr(1));
  int64_t column = 0;
  for (Part &part : parts) {
    offsets.back() = rewriter.getIndexAttr(column);
    sizes.back() = rewriter.getIndexAttr(part.columns());
    column += part.columns();
    Value slice = tensor::ExtractSliceOp::create(
        rewriter, part.op.getLoc(),
        cast<RankedTensorType>(part.result.getType()), all, offsets, sizes,
        strides);
    rewriter.replaceAllUsesWith(part.result, slice);
    if (part.result != part.op.getResult())
      rewriter.eraseOp(part.result.getDefiningOp());
    rewriter.replaceOp(part.op, slice);
  }
}

/// What must be the same for products to be one.
static bool alike(Part &a, Part &b) {
  auto elementOf = [](Value value) { return getElementTypeOrSelf(value); };
  auto leading = [](Part &part) {
    return part.op.getType().getShape().drop_back();
  };
  bool sameBias = !a.bias || !b.bias || elementOf(a.bias) == elementOf(b.bias);
  return sameBias && leading(a) == leading(b) &&
         elementOf(a.op.getWeight()) == elementOf(b.op.getWeight()) &&
         a.op.getType().getElementType() == b.op.getType().getElementType() &&
         a.op.getScheduleAttr() == b.op.getScheduleAttr() &&
         a.op.getFewRowsScheduleAttr() == b.op.getFewRowsScheduleAttr();
}

static void mergeThoseOf(ArrayRef<ProjectOp> ops, IRRewriter &rewriter) {
  SmallVector<Part> parts;
  for (ProjectOp op : ops) {
    Part part = partOf(op);
    StringRef reason = misfit(part);
    if (reason.empty() && !parts.empty() && !alike(parts.front(), part))
      reason = "its types are others";
    if (reason.empty())
      parts.push_back(part);
    else
      explain(op, reason);
  }
  if (parts.size() > 1)
    merge(parts, rewriter);
}

namespace {
struct MergeProjections : attn::impl::MergeProjectionsBase<MergeProjections> {
  void runOnOperation() override {
    // By input and block, in program order.
    llvm::MapVector<std::pair<Value, Block *>, SmallVector<ProjectOp>> byInput;
    getOperation()->walk([&](ProjectOp op) {
      if (!op.hasWeights() && op.getWeight().getType().hasStaticShape())
        byInput[{op.getInput(), op->getBlock()}].push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (auto &[input, ops] : byInput)
      if (ops.size() > 1)
        mergeThoseOf(ops, rewriter);
  }
};
} // namespace
