// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops of operators whose turns read states and give the next ones.
#ifndef ATTN_LIB_IMPORT_ONNX_OPERATORS_TURNS_H
#define ATTN_LIB_IMPORT_ONNX_OPERATORS_TURNS_H

#include "TensorBuilder.h"

namespace attn::onnx {

using Tensors = std::vector<Tensor>;

/// What one turn gives.
struct Turn {
  Tensors states;
  Tensors results; ///< of this turn alone
};

/// What all turns give.
struct Course {
  enum { Done, Reported, StateChanges, ResultChanges } outcome = Done;
  Tensors states;  ///< behind the last turn
  Tensors results; ///< (turns, ..)
};

/// A turn with its number, from 0 on; none after reports.
using TurnFunction = llvm::function_ref<std::optional<Turn>(
    mlir::Value index, llvm::ArrayRef<Tensor> states)>;

/// `count` turns, which begin with the states `first`; those of `isReverse`
/// put the results of the last turn first. What is read of tensors without
/// code, turns make anew. StateChanges: a turn gives a state of another type or
/// shape. ResultChanges: the shape of a result is computed in the turn. The
/// code that has been made then has no use.
Course inTurns(TensorBuilder &t, const Size &count, Tensors first,
               llvm::ArrayRef<bool> isReverse, TurnFunction turn);

/// `value`, of whose contents nothing is known.
Tensor computed(mlir::Value value, llvm::ArrayRef<Size> shape);

/// The place of `index`, counted from the end of `count`.
mlir::Value fromTheEnd(TensorBuilder &t, const Size &count, mlir::Value index);

/// `whole` at `index` of its first dimension, without that.
Tensor partOf(TensorBuilder &t, Tensor &whole, mlir::Value index);

} // namespace attn::onnx

#endif
