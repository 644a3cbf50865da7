// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands after `where`: parsing, printing, combining and checking masks.
// A new term is a TableGen attribute in AttnMaskAttributes.td and one file in
// lib/Dialect/Attn/IR/Mask/Terms.
#ifndef ATTN_DIALECT_ATTN_IR_MASKTERMS_H
#define ATTN_DIALECT_ATTN_IR_MASKTERMS_H

#include "attn/Dialect/Attn/IR/AttnOps.h"

namespace attn {

/// Collects the operands that terms read while a mask is parsed.
struct MaskOperandParser {
  mlir::OpAsmParser &parser;
  llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &operands;
  llvm::SmallVectorImpl<mlir::Type> &types;

  /// Parses `%x : type`; without a type the operand has type `ifAbsent`, or it
  /// is an error if that is null. Returns the operand's position.
  mlir::FailureOr<unsigned> parseOperand(mlir::Type ifAbsent = {});
};

/// A number of a term: an i64, or an #attn.operand that holds one integer, or
/// one per batch entry. Null where it was not given.
mlir::Attribute parseNumber(MaskOperandParser &mask);
void printNumber(mlir::OpAsmPrinter &printer, mlir::Attribute number,
                 mlir::OperandRange operands);
Linear numberValue(MaskContext &context, mlir::Attribute number,
                   llvm::StringRef name);
/// `lowest`: of a constant.
llvm::LogicalResult
verifyNumber(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
             llvm::StringRef term, mlir::Attribute number, int64_t lowest,
             mlir::TypeRange types, llvm::ArrayRef<int64_t> scoresShape);

/// The position that a term may end with: `, bottom_right)` or `)` and so on.
/// Null is top_left. `afterComma`: the comma has been read.
mlir::FailureOr<PositionAttr> parsePositionAndParen(MaskOperandParser &mask,
                                                    bool afterComma = false);
void printPosition(mlir::OpAsmPrinter &printer, PositionAttr position,
                   mlir::OperandRange operands);
/// `top_left`, `bottom_right in document` or `offset`, without what follows it.
/// `after`: for the message.
struct AlignmentWords {
  Alignment alignment;
  bool inDocument;
};
mlir::FailureOr<AlignmentWords> parseAlignment(MaskOperandParser &mask,
                                               llvm::StringRef after);
void printAlignment(mlir::OpAsmPrinter &printer, AlignmentWords words);

/// The key that query row q stands on.
Linear standsOn(MaskContext &context, PositionAttr position);
llvm::LogicalResult
verifyPosition(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
               llvm::StringRef term, PositionAttr position,
               mlir::TypeRange types, llvm::ArrayRef<int64_t> scoresShape);

/// `%x : type` of an operand of a term.
OperandAttr parseTermOperand(MaskOperandParser &mask);
void printTermOperand(mlir::OpAsmPrinter &printer, OperandAttr operand,
                      mlir::OperandRange operands);

/// Checks an operand of integers with a row per query, per key, ..: rank 1, or
/// rank 2 with one row per entry of the scores' leading dimension. `size` may
/// be unknown.
llvm::LogicalResult
verifyIntegerRow(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                 llvm::StringRef term, mlir::Type type, int64_t size,
                 llvm::ArrayRef<int64_t> scoresShape);

/// Element of a tensor or memref.
mlir::Value loadElement(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value shaped, mlir::ValueRange at);
/// Element `at` of a row of integers, maybe one of several by
/// PairPlace::leading, as an index.
mlir::Value loadFromRow(mlir::OpBuilder &builder, mlir::Location loc,
                        const PairPlace &place, OperandAttr operand,
                        mlir::Value at);

/// The terms that `mask` is made of: those that hold no other.
llvm::SmallVector<mlir::Attribute> leafTerms(mlir::Attribute mask);

mlir::ParseResult
parseMask(mlir::OpAsmParser &parser, mlir::Attribute &mask,
          llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &operands,
          llvm::SmallVectorImpl<mlir::Type> &types);
void printMask(mlir::OpAsmPrinter &printer, mlir::Attribute mask,
               mlir::OperandRange operands);

/// Conjunction of two masks; the operands of `second` follow those of `first`.
mlir::Attribute conjoinMasks(mlir::Attribute first, unsigned firstOperands,
                             mlir::Attribute second);

/// Why the conjunction of two masks, one applied after the other, does not mean
/// the same as both; empty where it does.
llvm::StringRef whyNotConjoin(mlir::Attribute first, mlir::Attribute second);

/// Checks that a tile op can look at `mask`, which the verifier of masks has
/// accepted: it asks for nothing but positions, lengths and operands.
llvm::LogicalResult
verifyItemMask(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
               mlir::Attribute mask);

/// Checks that `mask` is made of terms, that it names each of its operands, and
/// that each term accepts the types of its operands.
llvm::LogicalResult
verifyMask(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
           mlir::Attribute mask, mlir::TypeRange operandTypes,
           llvm::ArrayRef<int64_t> scoresShape);

/// Whether a term of `mask` has a position in the query's document.
bool standsInDocument(mlir::Attribute mask);
/// Whether attn-tile-queries has numbered the documents of `mask`: tables of
/// its own, which no specification has, say where each row's keys lie.
bool hasNumberedDocuments(mlir::Attribute mask);
/// The terms of the conjunction that `mask` is.
llvm::SmallVector<mlir::Attribute> conjunctionOf(mlir::Attribute mask);

/// The formula of a whole mask; true where there is none. Terms that count from
/// the last live key (`causal(bottom_right)`) take a `key_length` that stands
/// in the same conjunction into account.
Formula maskFormula(MaskContext &context, mlir::Attribute mask);

/// Checks a mask operand that holds one integer, or one per batch entry.
llvm::LogicalResult
verifyPerBatchOperand(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                      llvm::StringRef term, mlir::Type type,
                      llvm::ArrayRef<int64_t> scoresShape);

/// Checks a constant of a mask term. Sums of such numbers and positions do not
/// wrap around.
llvm::LogicalResult
verifyConstant(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
               llvm::StringRef term, int64_t value, int64_t lowest);

/// Whether `shape` broadcasts to `target` from the right: each of its trailing
/// sizes is 1, equal to the target's, or one of both is unknown.
bool broadcastsTo(llvm::ArrayRef<int64_t> shape,
                  llvm::ArrayRef<int64_t> target);

} // namespace attn

#endif
