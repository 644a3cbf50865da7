// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks, looked at pair by pair.
#ifndef ATTN_LIB_REFERENCE_MASKS_H
#define ATTN_LIB_REFERENCE_MASKS_H

#include "Interpreter.h"

namespace attn::reference {

/// A mask with its operands. `sees` is defined for every pair of the scores.
class Mask {
public:
  /// Checks that the mask is known and that its operands fit `scoresShape`: the
  /// leading dimensions, Sq, Skv. No mask sees all.
  static mlir::FailureOr<Mask> make(Frame &frame, mlir::Operation *op,
                                    std::optional<mlir::Attribute> mask,
                                    mlir::OperandRange operands,
                                    llvm::ArrayRef<int64_t> scoresShape);

  /// `pair` is a position in the scores: the leading indices, q, k.
  bool sees(llvm::ArrayRef<int64_t> pair) const {
    return !mask || sees(*mask, pair);
  }

private:
  bool sees(mlir::Attribute term, llvm::ArrayRef<int64_t> pair) const;
  llvm::LogicalResult check(mlir::Operation *op, mlir::Attribute term) const;
  /// The integer that operand `position` holds for this pair's batch entry.
  int64_t integer(int64_t position, llvm::ArrayRef<int64_t> pair) const;
  /// Skv, or the length of this batch entry.
  int64_t liveKeys(llvm::ArrayRef<int64_t> pair) const;

  std::optional<mlir::Attribute> mask;
  llvm::SmallVector<Datum> operands;
  llvm::SmallVector<int64_t> scoresShape;
};

} // namespace attn::reference

#endif
