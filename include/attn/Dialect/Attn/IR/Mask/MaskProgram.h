// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Predicates of attn.mask_fn as values (#attn.program): their formula, and code
// from them.
#ifndef ATTN_DIALECT_ATTN_IR_MASKPROGRAM_H
#define ATTN_DIALECT_ATTN_IR_MASKPROGRAM_H

#include "attn/Dialect/Attn/IR/AttnOps.h"

namespace attn {

/// Numbers of a program's values.
struct ProgramValue {
  enum : int64_t { Batch, Head, Query, Key, FirstInput };
};

/// A step that the analysis cannot read, and why.
struct ProgramRefusal {
  size_t step;
  std::string reason;
};

/// The formula of a program. It has no opaque literal exactly if there are no
/// refusals; else one, which `term` answers, whose bounds follow from the steps
/// that could be read. An input that is no tensor is the symbol of its operand.
Formula programFormula(MaskContext &context, ProgramAttr program,
                       llvm::ArrayRef<OperandAttr> operands, const void *term,
                       llvm::SmallVectorImpl<ProgramRefusal> &refusals);

/// Does the value have the same value for all pairs of a batch entry and head?
/// One answer per value.
llvm::SmallVector<bool> uniformValues(ProgramAttr program);

/// The region of `op` as a program of the steps that its answer depends on.
/// `ops` are the steps' ops, `captures` the positions of the captures that are
/// its inputs.
ProgramAttr programOf(MaskFnOp op,
                      llvm::SmallVectorImpl<mlir::Operation *> &ops,
                      llvm::SmallVectorImpl<unsigned> &captures);

mlir::ParseResult parsePredicate(
    mlir::OpAsmParser &parser, mlir::Region &region,
    llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &captures,
    llvm::SmallVectorImpl<mlir::Type> &types);
void printPredicate(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                    mlir::Region &region, mlir::OperandRange captures,
                    mlir::TypeRange types);

/// Emits step `step` of a program on the given values. Tensors may be memrefs.
mlir::Value emitStep(mlir::OpBuilder &builder, mlir::Location loc,
                     StepAttr step, mlir::ValueRange operands);

} // namespace attn

#endif
