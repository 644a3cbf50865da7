// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What mask operands are, how terms name them, and where in a batch a pair
// lies.
#ifndef ATTN_DIALECT_ATTN_IR_MASKOPERANDS_H
#define ATTN_DIALECT_ATTN_IR_MASKOPERANDS_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

namespace attn {

struct MaskOperandParser;

/// Where a pair lies, for code that reads mask operands. In a tile op the
/// operands are those of one batch entry and head, and the indices are null.
struct PairPlace {
  mlir::ValueRange operands; ///< all mask operands
  mlir::Value batch, head;
  mlir::Value
      leading; ///< index of the scores' first dimension, if there is one
};

/// What a mask operand is, and so how big, and what of it an item reads.
enum class MaskOperandKind {
  Number,   ///< an integer, or one per batch entry
  OfRow,    ///< an integer per query row, the same for all rows of an item
  Row,      ///< integers, maybe a row of them per batch entry
  Pairs,    ///< booleans that broadcast to the scores
  Blocks,   ///< a matrix of booleans, maybe one per batch entry and head
  Captured, ///< a tensor that is read anywhere
};

/// What a row has an integer for.
enum class MaskRow { Query, Key, Count, Own };

struct MaskOperand {
  unsigned position; ///< among the operands of the mask
  MaskOperandKind kind = MaskOperandKind::Number;
  MaskRow row = MaskRow::Own; ///< Row: `Own` rows of a term have one length
  int64_t count = 0;          ///< MaskRow::Count: so many
};

/// Those of a term whose #attn.operand are numbers; in a position that counts
/// in the query's document, numbers of a row.
llvm::SmallVector<MaskOperand> numbersIn(mlir::Attribute term);

/// Checks the types of numbers and rows.
llvm::LogicalResult
verifyMaskOperands(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                   llvm::StringRef term, llvm::ArrayRef<MaskOperand> operands,
                   mlir::TypeRange types, llvm::ArrayRef<int64_t> scoresShape);

/// The positions in all #attn.operand inside `term`.
llvm::SmallVector<unsigned> operandPositionsIn(mlir::Attribute term);

/// `term` with the position in every #attn.operand replaced.
mlir::Attribute mapOperandsIn(mlir::Attribute term,
                              llvm::function_ref<unsigned(unsigned)> map);

} // namespace attn

#endif
