// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slices whose rows have gaps are copied once.
//
// Before:  %k = tensor.extract_slice %x[0, 0] [7, 8] [1, 2]
// After:   %part = tensor.extract_slice %x[0, 0] [7, 8] [1, 2]
//          %empty = tensor.empty() : tensor<7x8xf32>
//          %k = linalg.copy ins(%part) outs(%empty)
//
// Kernels read and write rows whose elements lie side by side. A slice with a
// stride in its last dimension, or one that drops the last dimension, is a view
// with gaps once tensors are buffers. What is inserted with gaps is computed
// first and inserted after. A step over one element is 1.
//
// Before: tensors. After: the same; a slice with gaps is only copied, from or
// to.
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace attn {
#define GEN_PASS_DEF_COPYSTRIDEDSLICES
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// MLIR takes other views of one element for two types.
template <typename Slice> static void stepOverOne(Slice slice) {
  SmallVector<int64_t> strides(slice.getStaticStrides());
  for (auto [size, stride] : llvm::zip_equal(slice.getStaticSizes(), strides))
    if (size == 1 && !ShapedType::isDynamic(stride))
      stride = 1;
  slice.setStaticStrides(strides);
}

/// Whether elements side by side in the last dimension of the part do not lie
/// so in the whole.
template <typename Slice> static bool hasGaps(Slice slice) {
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  if (dropped.all()) // at most one element
    return false;
  SmallVector<OpFoldResult> strides = slice.getMixedStrides();
  return dropped.test(dropped.size() - 1) ||
         !isConstantIntValue(strides.back(), 1);
}

/// Sizes of the part.
template <typename Slice>
static SmallVector<OpFoldResult> sizesOf(Slice slice) {
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  SmallVector<OpFoldResult> sizes;
  for (auto [dim, size] : llvm::enumerate(slice.getMixedSizes()))
    if (!dropped.test(dim))
      sizes.push_back(size);
  return sizes;
}

static Value copy(OpBuilder &b, Location loc, Value tensor,
                  ArrayRef<OpFoldResult> sizes) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value empty = tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
  return linalg::CopyOp::create(b, loc, tensor, empty).getResult(0);
}

namespace {
struct CopyStridedSlices
    : attn::impl::CopyStridedSlicesBase<CopyStridedSlices> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
        stepOverOne(slice);
        if (!hasGaps(slice))
          return;
        OpBuilder b(op);
        b.setInsertionPointAfter(op);
        Value whole = copy(b, op->getLoc(), slice, sizesOf(slice));
        slice.getResult().replaceAllUsesExcept(whole, whole.getDefiningOp());
      } else if (auto slice = dyn_cast<tensor::InsertSliceOp>(op)) {
        stepOverOne(slice);
        if (!hasGaps(slice))
          return;
        OpBuilder b(op);
        slice.getSourceMutable().assign(
            copy(b, op->getLoc(), slice.getSource(), sizesOf(slice)));
      }
    });
  }
};
} // namespace
