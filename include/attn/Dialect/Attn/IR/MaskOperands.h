// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How terms name mask operands, and where in a batch a pair lies.
#ifndef ATTN_DIALECT_ATTN_IR_MASKOPERANDS_H
#define ATTN_DIALECT_ATTN_IR_MASKOPERANDS_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Builders.h"

namespace attn {

/// Where a pair lies, for code that reads mask operands. In a tile op the
/// operands are those of one batch entry and head, and the indices are null.
struct PairPlace {
  mlir::ValueRange operands; ///< all mask operands
  mlir::Value batch, head;
  mlir::Value
      leading; ///< index of the scores' first dimension, if there is one
};

/// The positions in all #attn.operand inside `term`.
llvm::SmallVector<unsigned> operandPositionsIn(mlir::Attribute term);

/// `term` with the position in every #attn.operand replaced.
mlir::Attribute mapOperandsIn(mlir::Attribute term,
                              llvm::function_ref<unsigned(unsigned)> map);

} // namespace attn

#endif
