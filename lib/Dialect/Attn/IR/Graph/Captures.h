// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Syntax of what regions capture: `with (%t = %table : type, ..)`.
#ifndef ATTN_LIB_DIALECT_ATTN_IR_CAPTURES_H
#define ATTN_LIB_DIALECT_ATTN_IR_CAPTURES_H

#include "mlir/IR/OpImplementation.h"

namespace attn {

/// Adds a region's argument, an operand and its type per captured value, if
/// there are any.
mlir::ParseResult parseCaptures(
    mlir::OpAsmParser &parser,
    llvm::SmallVectorImpl<mlir::OpAsmParser::Argument> &arguments,
    llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &captures,
    llvm::SmallVectorImpl<mlir::Type> &types);

/// With a space in front, or nothing.
void printCaptures(mlir::OpAsmPrinter &printer,
                   llvm::ArrayRef<mlir::BlockArgument> arguments,
                   mlir::OperandRange captures);

} // namespace attn

#endif
