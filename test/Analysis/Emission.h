// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops and predicates of a mask as functions, and what they compute.

#ifndef ATTN_TEST_ANALYSIS_EMISSION_H
#define ATTN_TEST_ANALYSIS_EMISSION_H

#include "RandomMask.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attn::test {

/// func(symbols...) -> hull, bounds if there are any, the number of visited
/// tiles and a hash of their numbers, both carried by the loops.
mlir::func::FuncOp emitLoopFunction(mlir::OpBuilder &builder,
                                    mlir::Location loc,
                                    const KeyRanges &ranges);

/// func(q, k, symbols...) -> i1
mlir::func::FuncOp emitPredicateFunction(mlir::OpBuilder &builder,
                                         mlir::Location loc,
                                         const MaskContext &context,
                                         const Formula &formula);

/// Runs the loops for one query tile, whose symbols are set.
bool loopsAreRight(RandomMask &mask, const KeyRanges &ranges,
                   mlir::func::FuncOp function);

/// Runs the predicate for one pair.
bool predicateIsRight(RandomMask &mask, mlir::func::FuncOp function, int64_t q,
                      int64_t k);

} // namespace attn::test

#endif // ATTN_TEST_ANALYSIS_EMISSION_H
