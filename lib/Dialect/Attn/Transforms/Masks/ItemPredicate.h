// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The predicate of one batch entry and head.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_MASKS_ITEMPREDICATE_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_MASKS_ITEMPREDICATE_H

#include "ItemPlace.h"

namespace attn {

/// What differs between pairs, and the operands that it reads; `saturates`: a
/// number that must, before it becomes one of the analysis.
struct ItemPredicate {
  struct Operand {
    mlir::Value value;
    bool saturates;
  };
  ProgramAttr program;
  llvm::SmallVector<Operand> operands;
};
ItemPredicate predicateOfItem(mlir::OpBuilder &b, mlir::Location loc,
                              const ItemPlace &place, ProgramAttr program,
                              mlir::ValueRange captures);

} // namespace attn

#endif
