// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks, looked at pair by pair.
#ifndef ATTN_LIB_REFERENCE_ATTENTION_MASKS_H
#define ATTN_LIB_REFERENCE_ATTENTION_MASKS_H

#include "Interpreter.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include <map>
#include <memory>

namespace attn::reference {

struct Predicate;

/// What a block with arguments (b, h, q, k, inputs..) yields for a pair;
/// nothing if an error has been reported.
std::optional<bool> answerOf(Frame &frame, mlir::Block &block,
                             llvm::ArrayRef<int64_t> pair,
                             llvm::ArrayRef<Datum> inputs);

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
  llvm::LogicalResult checkInteger(mlir::Operation *op, int64_t position) const;
  llvm::LogicalResult checkNumber(mlir::Operation *op,
                                  mlir::Attribute number) const;
  llvm::LogicalResult checkRow(mlir::Operation *op, OperandAttr operand,
                               int64_t size) const;
  llvm::LogicalResult makePredicate(Frame &frame, mlir::Operation *op,
                                    PredicateAttr term);
  /// The integer that operand `position` holds for this pair's batch entry.
  int64_t integer(int64_t position, llvm::ArrayRef<int64_t> pair) const;
  /// Skv, or the length of this batch entry.
  int64_t liveKeys(llvm::ArrayRef<int64_t> pair) const;
  /// A constant, or what the operand holds for this pair's batch entry.
  int64_t number(mlir::Attribute number, llvm::ArrayRef<int64_t> pair) const;
  /// The key that the pair's query stands on.
  int64_t standsOn(PositionAttr position, llvm::ArrayRef<int64_t> pair) const;
  /// The key at which a chunk begins.
  int64_t originOf(ChunkedAttr term, llvm::ArrayRef<int64_t> pair) const;
  /// The document of the pair's query, within the sequences; all 0 if there is
  /// none.
  struct Document {
    int64_t firstQuery = 0, endQuery = 0, firstKey = 0, endKey = 0;
  };
  Document documentOf(llvm::ArrayRef<int64_t> pair) const;
  /// Element `i` of the row of an operand that belongs to this pair.
  int64_t inRow(OperandAttr operand, llvm::ArrayRef<int64_t> pair,
                int64_t i) const;
  bool seesBlock(BlockAttr term, llvm::ArrayRef<int64_t> pair) const;
  bool seesCausal(CausalAttr term, llvm::ArrayRef<int64_t> pair) const;
  bool seesTree(TreeAttr term, llvm::ArrayRef<int64_t> pair) const;
  bool seesDocument(DocumentAttr term, llvm::ArrayRef<int64_t> pair) const;
  bool seesPredicate(PredicateAttr term, llvm::ArrayRef<int64_t> pair) const;

  std::optional<mlir::Attribute> mask;
  llvm::SmallVector<Datum> operands;
  llvm::SmallVector<int64_t> scoresShape;
  /// The steps of each predicate as ops, and who evaluates them.
  std::map<const void *, std::shared_ptr<Predicate>> predicates;
};

} // namespace attn::reference

#endif
