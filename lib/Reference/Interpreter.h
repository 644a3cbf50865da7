// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the evaluators of single ops share: the values seen so far.
#ifndef ATTN_LIB_REFERENCE_INTERPRETER_H
#define ATTN_LIB_REFERENCE_INTERPRETER_H

#include "attn/Reference/Reference.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace attn::reference {

/// One activation of a function.
class Frame {
public:
  Frame(const Options &options, unsigned depth)
      : options(options), depth(depth) {}

  // Every operand of an op under evaluation has a value of its type's kind:
  // evaluateOp refuses all other types.
  const Datum &get(mlir::Value value) const {
    return values.find(value)->second;
  }
  const Tensor &tensor(mlir::Value value) const {
    return *std::get<std::shared_ptr<const Tensor>>(get(value));
  }
  const State &state(mlir::Value value) const {
    return *std::get<std::shared_ptr<const State>>(get(value));
  }
  Number scalar(mlir::Value value) const {
    return std::get<Number>(get(value));
  }
  int64_t integer(mlir::Value value) const { return scalar(value).integer; }
  int64_t integer(mlir::OpFoldResult value) const;
  llvm::SmallVector<int64_t>
  integers(llvm::ArrayRef<mlir::OpFoldResult> mixed) const;
  llvm::SmallVector<Datum> get(mlir::ValueRange range) const;

  /// A weight as it meets those values, rounded if the options ask for it.
  double besideValues(mlir::Value values, double weight) const;

  /// Gives a value its datum, rounded if the options ask for it.
  void set(mlir::Value value, Datum datum);
  void setInteger(mlir::Value value, int64_t integer) {
    set(value, Number::ofInteger(integer));
  }
  /// Gives a tensor value its elements, unless its type has other sizes.
  llvm::LogicalResult setTensor(mlir::OpResult result, Tensor tensor);

  /// Evaluates a block; returns what its terminator passes on.
  mlir::FailureOr<llvm::SmallVector<Datum>>
  run(mlir::Block &block, llvm::ArrayRef<Datum> arguments);

  const Options &options;
  const unsigned depth; ///< calls that this one is inside of
  /// Indices of the innermost linalg op under evaluation.
  llvm::SmallVector<int64_t> loopIndices;

private:
  llvm::LogicalResult evaluateOp(mlir::Operation *op);

  llvm::DenseMap<mlir::Value, Datum> values;
};

/// A tensor of that shape, or an error at `op` where there can be none.
mlir::FailureOr<Tensor> makeTensor(mlir::Operation *op,
                                   llvm::ArrayRef<int64_t> shape);

/// An error at `op` unless `holds`.
llvm::LogicalResult require(mlir::Operation *op, bool holds,
                            const llvm::Twine &what);

/// Steps `indices` through `shape` in row-major order; false at the end.
bool advance(llvm::MutableArrayRef<int64_t> indices,
             llvm::ArrayRef<int64_t> shape);

/// Value of an affine expression; nothing where it divides by 0.
std::optional<int64_t> evaluateAffine(mlir::AffineExpr expression,
                                      llvm::ArrayRef<int64_t> dims,
                                      llvm::ArrayRef<int64_t> symbols);

/// Position in `tensor` of what broadcasts to `indices` from the right.
int64_t broadcastOffset(const Tensor &tensor, llvm::ArrayRef<int64_t> indices);
bool broadcasts(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> target);

mlir::FailureOr<llvm::SmallVector<Datum>> call(mlir::func::FuncOp function,
                                               llvm::ArrayRef<Datum> arguments,
                                               const Options &options,
                                               unsigned depth);

/// Each evaluates the ops of one group; nothing if `op` is none of them.
using Outcome = std::optional<llvm::LogicalResult>;
Outcome evaluateGraphOp(Frame &frame, mlir::Operation *op);
Outcome evaluateScoreOp(Frame &frame, mlir::Operation *op);
Outcome evaluateSdpa(Frame &frame, mlir::Operation *op);
Outcome evaluateSdpaGrad(Frame &frame, mlir::Operation *op);
Outcome evaluateStateOp(Frame &frame, mlir::Operation *op);
Outcome evaluateTileOp(Frame &frame, mlir::Operation *op);
Outcome evaluateProductOp(Frame &frame, mlir::Operation *op);
Outcome evaluateArithmetic(Frame &frame, mlir::Operation *op);
Outcome evaluateControl(Frame &frame, mlir::Operation *op);
Outcome evaluateTensorOp(Frame &frame, mlir::Operation *op);
Outcome evaluateLinalg(Frame &frame, mlir::Operation *op);

} // namespace attn::reference

#endif
