// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-lower-columns: a product with one column is a sum along rows.
//
// Before:  %y = attn.project %x, %w, %bias
//              : (tensor<?x64xbf16>, tensor<64x1xbf16>, tensor<1xbf16>)
//              -> tensor<?x1xbf16>
// After:   %v = tensor.collapse_shape %w [[0, 1]] : .. into tensor<64xbf16>
//          %start = linalg.fill ins(%bias[0]) outs(%empty : tensor<?xf32>)
//          %sums = linalg.generic {iterators = ["parallel", "reduction"]}
//            ins(%x, %v) outs(%start)  // adds up products, in f32
//          %rounded = arith.truncf %sums : tensor<?xf32> to tensor<?xbf16>
//          %y = tensor.expand_shape %rounded [[0, 1]] : .. tensor<?x1xbf16>
//
// Tiles of a product have their lanes along columns, of which all but one would
// be idle; a sum has them along what it adds up, and reads the matrix once. An
// input that is a transpose is read as it lies, with lanes along the rows.
//
// Before: the fused level. After: no projection of one column.
#include "JoinedDimensions.h"
#include "SumType.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace attn {
#define GEN_PASS_DEF_LOWERCOLUMNS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// Writes the sums of one product. Loops are the dimensions of the input.
struct RowSums {
  ProjectOp op;
  OpBuilder b;
  Location loc;
  Type wide;

  explicit RowSums(ProjectOp op)
      : op(op), b(op), loc(op.getLoc()),
        wide(sumType(op.getType().getElementType())) {}

  Value widen(OpBuilder &builder, Value number) const {
    return number.getType() == wide
               ? number
               : arith::ExtFOp::create(builder, loc, wide, number).getResult();
  }
  std::pair<Value, AffineMap> readInput();
  Value makeStart(ArrayRef<OpFoldResult> sizes);
  void lower();
};
} // namespace

/// The input, in front of a transpose of its matrices.
std::pair<Value, AffineMap> RowSums::readInput() {
  Value input = op.getInput();
  auto rank = static_cast<unsigned>(op.getType().getRank());
  auto order = llvm::to_vector(llvm::seq(rank));
  if (auto transpose = input.getDefiningOp<linalg::TransposeOp>()) {
    auto swapped = llvm::to_vector(transpose.getPermutation());
    std::swap(swapped[rank - 1], swapped[rank - 2]);
    if (llvm::is_sorted(swapped)) {
      input = transpose.getInput();
      std::swap(order[rank - 1], order[rank - 2]);
    }
  }
  return {input,
          AffineMap::getMultiDimMapWithTargets(rank, order, b.getContext())};
}

/// What the sums begin with: the bias, or 0.
Value RowSums::makeStart(ArrayRef<OpFoldResult> sizes) {
  Value first;
  if (op.getBias()) {
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    first = widen(b, tensor::ExtractOp::create(b, loc, op.getBias(), zero));
  } else {
    first = arith::ConstantOp::create(b, loc, b.getFloatAttr(wide, 0.0));
  }
  Value empty = tensor::EmptyOp::create(b, loc, sizes, wide);
  return linalg::FillOp::create(b, loc, first, empty).getResult(0);
}

void RowSums::lower() {
  int64_t rank = op.getType().getRank();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, loc, op.getInput());
  sizes.pop_back();
  auto [input, inputMap] = readInput();
  Value vector = tensor::CollapseShapeOp::create(
      b, loc, op.getWeight(),
      joinLastTwo(cast<RankedTensorType>(op.getWeight().getType()).getRank()));
  SmallVector<unsigned> inVector{static_cast<unsigned>(rank - 1)};
  if (op.hasWeights())
    inVector.insert(inVector.begin(), 0);
  AffineMap maps[] = {
      inputMap,
      AffineMap::getMultiDimMapWithTargets(rank, inVector, b.getContext()),
      b.getMultiDimIdentityMap(rank).dropResult(rank - 1)};
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  loops.back() = utils::IteratorType::reduction;
  Value start = makeStart(sizes);
  Value sums =
      linalg::GenericOp::create(
          b, loc, start.getType(), ValueRange{input, vector}, start, maps,
          loops,
          [&](OpBuilder &inner, Location, ValueRange numbers) {
            Value product = arith::MulFOp::create(
                inner, loc, widen(inner, numbers[0]), widen(inner, numbers[1]));
            linalg::YieldOp::create(
                inner, loc,
                arith::AddFOp::create(inner, loc, numbers[2], product)
                    .getResult());
          })
          .getResult(0);
  Type element = op.getType().getElementType();
  if (wide != element)
    sums = arith::TruncFOp::create(
        b, loc, cast<RankedTensorType>(sums.getType()).clone(element), sums);
  sizes.push_back(b.getIndexAttr(1));
  Value result = tensor::ExpandShapeOp::create(b, loc, op.getType(), sums,
                                               joinLastTwo(rank), sizes);
  op.replaceAllUsesWith(result);
  op.erase();
}

namespace {
struct LowerColumns : attn::impl::LowerColumnsBase<LowerColumns> {
  void runOnOperation() override {
    SmallVector<ProjectOp> products;
    getOperation()->walk([&](ProjectOp op) {
      auto weight = cast<RankedTensorType>(op.getWeight().getType());
      if (weight.getDimSize(op.columnDim()) == 1)
        products.push_back(op);
    });
    for (ProjectOp op : products)
      RowSums(op).lower();
  }
};
} // namespace
