// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Score functions: regions over (score, b, h, q, k, captured values...) on
// attn.score_mod, attn.sdpa and the tile ops.
#ifndef ATTN_DIALECT_ATTN_IR_SCOREFUNCTION_H
#define ATTN_DIALECT_ATTN_IR_SCOREFUNCTION_H

#include "attn/Dialect/Attn/IR/AttnOps.h"

namespace attn {

/// Arguments of a score function in front of the captured values.
enum ScoreArgument { Score, Batch, Head, Query, Key, FirstCapture };

/// The score function of `op`; null where it has none.
mlir::Region *scoreFunctionOf(mlir::Operation *op);

/// Whether `op` reads an element of a captured tensor or memref.
bool readsCapture(mlir::Operation *op);

/// Whether it reads a float of a capture, of which captures are numbered from
/// 0, whose gradient is asked for.
bool readsLearned(mlir::Operation *op,
                  llvm::function_ref<bool(unsigned capture)> isLearned);

/// Checks the score function of `op`; without one it must capture nothing. It
/// yields a score and so many derivatives.
llvm::LogicalResult verifyScoreFunction(mlir::Operation *op,
                                        mlir::TypeRange captures,
                                        mlir::Type score,
                                        unsigned derivatives = 0);

using UnresolvedOperands =
    llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand>;

/// `(%s: f32, %b, %h, %q, %k) with (%t = %table : type, ...) { ... }`
mlir::ParseResult parseScoreFunction(mlir::OpAsmParser &parser,
                                     mlir::Region &region,
                                     UnresolvedOperands &captures,
                                     llvm::SmallVectorImpl<mlir::Type> &types);
void printScoreFunction(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                        mlir::Region &region, mlir::OperandRange captures,
                        mlir::TypeRange types);

/// The same with `of %batch, %head` in front of `with`: the first two captures
/// of a tile op, which have no arguments of their own.
mlir::ParseResult
parseTileScoreFunction(mlir::OpAsmParser &parser, mlir::Region &region,
                       UnresolvedOperands &captures,
                       llvm::SmallVectorImpl<mlir::Type> &types);
mlir::ParseResult parseTileScoreFunction(
    mlir::OpAsmParser &parser,
    llvm::SmallVectorImpl<std::unique_ptr<mlir::Region>> &regions,
    UnresolvedOperands &captures, llvm::SmallVectorImpl<mlir::Type> &types);
void printTileScoreFunction(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                            mlir::Region &region, mlir::OperandRange captures,
                            mlir::TypeRange types);
void printTileScoreFunction(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                            llvm::MutableArrayRef<mlir::Region> regions,
                            mlir::OperandRange captures, mlir::TypeRange types);

} // namespace attn

#endif
