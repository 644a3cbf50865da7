// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Score functions, and what else happens to a score, one pair at a time.
#ifndef ATTN_LIB_REFERENCE_ATTENTION_SCOREFUNCTIONS_H
#define ATTN_LIB_REFERENCE_ATTENTION_SCOREFUNCTIONS_H

#include "Interpreter.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"

namespace attn::reference {

/// A score function with the values that it captures.
class ScoreFunction {
public:
  ScoreFunction(Frame &frame, mlir::Operation *op, mlir::ValueRange captures)
      : frame(frame), region(scoreFunctionOf(op)),
        captures(frame.get(captures)) {}

  /// f(score, b, h, q, k); the score where there is no function. A failure has
  /// been reported.
  mlir::FailureOr<double> operator()(double score, int64_t b, int64_t h,
                                     int64_t q, int64_t k) const;

private:
  Frame &frame;
  mlir::Region *region; ///< null: scores stay as they are
  llvm::SmallVector<Datum> captures;
};

} // namespace attn::reference

#endif
