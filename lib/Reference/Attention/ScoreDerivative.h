// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derivatives of score functions, one pair at a time.
#ifndef ATTN_LIB_REFERENCE_ATTENTION_SCOREDERIVATIVE_H
#define ATTN_LIB_REFERENCE_ATTENTION_SCOREDERIVATIVE_H

#include "Interpreter.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include <map>

namespace attn::reference {

/// A value's derivatives by what it depends on: the score, or an element of a
/// captured tensor. What it does not depend on is absent, which is not the same
/// as a derivative of 0: nothing multiplies it.
class Tangent {
public:
  /// The score is `{-1, 0}`, others are capture and element.
  using Input = std::pair<int64_t, int64_t>;
  std::map<Input, double> by;

  /// Adds `factor` times the other.
  Tangent &add(const Tangent &other, double factor) {
    for (auto [input, derivative] : other.by)
      by[input] += factor * derivative;
    return *this;
  }
};

/// A score function, its value and its tangent.
class ScoreDerivative {
public:
  ScoreDerivative(Frame &frame, mlir::Operation *op, mlir::ValueRange captures)
      : frame(frame), op(op), region(scoreFunctionOf(op)),
        captures(frame.get(captures)) {}

  struct Result {
    double value;
    Tangent tangent;
  };
  /// At (score, b, h, q, k); the score itself where there is no function. A
  /// failure has been reported.
  mlir::FailureOr<Result> operator()(double score, int64_t b, int64_t h,
                                     int64_t q, int64_t k) const;

private:
  Frame &frame;
  mlir::Operation *op;
  mlir::Region *region;
  llvm::SmallVector<Datum> captures;
};

} // namespace attn::reference

#endif
