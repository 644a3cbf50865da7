// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor as the loops of one attention see it, through the reshapes,
// transposes and broadcasts that exporters put between.
//
// The loops of scores of rank r are numbered 0 .. r - 1, the last being the
// keys. An index of a dimension is written in digits, each a part of one loop:
// in
//   %e = tensor.expand_shape %x [[0], [1, 2]] : (?x64) to (?x4x16)
//   %t = linalg.transpose %e permutation = [1, 0, 2]
// element (h, s, d) of %t is element (s), (h, d) of %x.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_RAISE_TENSORVIEW_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_RAISE_TENSORVIEW_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"

namespace attn {

/// (index of the loop floordiv `div`) mod `size`; all that is left where `size`
/// is ShapedType::kDynamic.
struct Digit {
  unsigned loop;
  int64_t div, size;
  bool operator==(const Digit &other) const {
    return loop == other.loop && div == other.div && size == other.size;
  }
};

/// The most significant digit first; none is index 0.
using LoopIndex = llvm::SmallVector<Digit, 1>;

struct TensorView {
  mlir::Value tensor;
  llvm::SmallVector<LoopIndex, 0> dims; ///< one per dimension of `tensor`

  mlir::RankedTensorType type() const {
    return llvm::cast<mlir::RankedTensorType>(tensor.getType());
  }
  /// The dimension that is loop `loop` and nothing else, or -1.
  int64_t dimOf(unsigned loop) const;
};

/// The loop as the only digit; none where its size is known to be 1.
LoopIndex wholeLoop(unsigned loop, int64_t size);

/// The view of the tensor that the op above only shows otherwise, if there is
/// one and the digits fall between its dimensions.
std::optional<TensorView> peel(const TensorView &view);

/// The same downwards: `user` only shows `view.tensor` otherwise.
std::optional<TensorView> follow(const TensorView &view, mlir::Operation *user);

/// A sum of products over one loop.
struct SumOfProducts {
  mlir::linalg::LinalgOp op;
  unsigned summed;                         ///< the loop of `op` that is summed
  llvm::SmallVector<unsigned> left, right; ///< those of one operand alone
};

/// None: `value` is no sum of products of two tensors over one loop, from 0.
std::optional<SumOfProducts> productOf(mlir::Value value);

/// The views of operands, or of the result, where loop i of the op is
/// `loops[i]`.
TensorView viewOf(mlir::OpOperand &operand, mlir::AffineMap map,
                  llvm::ArrayRef<LoopIndex> loops);

/// How the result's loops follow from the dimensions of `view`, which is what
/// `map` reads: fills in `loops`.
void readLoops(const TensorView &view, mlir::AffineMap map,
               llvm::MutableArrayRef<LoopIndex> loops);

/// Loops that the dimensions of a tensor are to be. A loop that a view lacks
/// becomes a size of 1, which is possible where its size is 1 or it is `head`.
struct Arrangement {
  llvm::SmallVector<unsigned, 4> loops;
  llvm::ArrayRef<int64_t> sizes; ///< of every loop
  int64_t head = -1; ///< the loop of heads, which several may share; -1: none
};
/// Whether `arrange` can make such a tensor of the view.
bool canArrange(const TensorView &view, const Arrangement &wanted);
mlir::Value arrange(mlir::OpBuilder &b, mlir::Location loc,
                    const TensorView &view, const Arrangement &wanted);

/// The inverse: `from`, whose dimension i is loop `loops[i]`, as `view`
/// describes its tensor. `canRestore` says whether that is possible.
bool canRestore(const TensorView &view, const Arrangement &given);
mlir::Value restore(mlir::OpBuilder &b, mlir::Location loc, mlir::Value from,
                    const TensorView &view, const Arrangement &given);

} // namespace attn

#endif
