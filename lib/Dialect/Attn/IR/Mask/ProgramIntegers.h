// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers of a program of arith ops, as linear expressions under conditions.
//
// An integer is a list of cases (condition, linear expression), disjoint and
// exhaustive: that is how select, min, max and division that rounds to zero
// become linear. Expressions are integers without bounds. An op is read only if
// its result cannot wrap: lengths are below 2^31, captured integers of 64 bits
// and of type index below 2^40 in magnitude, and `overflow<nsw>` is believed.
// Computed numbers stay below 2^60.
#ifndef ATTN_LIB_DIALECT_ATTN_IR_PROGRAMINTEGERS_H
#define ATTN_LIB_DIALECT_ATTN_IR_PROGRAMINTEGERS_H

#include "attn/Dialect/Attn/IR/Mask/MaskProgram.h"
#include <map>

namespace attn {

struct Case {
  Formula when;
  Linear value;
};
using Cases = mlir::SmallVector<Case, 2>;

inline Cases singleCase(const Linear &linear) {
  return {{truth(true), linear}};
}

/// What is known of a value: nothing, an integer, or a truth value.
struct Known {
  std::optional<Cases> integer;
  Formula truth; ///< null if unknown
};

constexpr const char *noLinearReading = "has no linear reading";
constexpr const char *readsNoLinear = "reads a value that is not linear";

/// Computed values lie inside of +-2^60, constants beyond this one outside.
constexpr int64_t beyondComputed = int64_t(1) << 61;

class ProgramIntegers {
public:
  /// Doubles: too large is as good as infinite.
  struct Bounds {
    double low, high;
  };

  ProgramIntegers(MaskContext &context) : context(context) {}

  void setRange(const Linear &symbol, Bounds bounds) {
    ranges[symbol.terms.begin()->first] = bounds;
  }
  Bounds range(const Linear &linear) const;

  /// The result of a step on integers; none, with the reason in `why`.
  std::optional<Cases> evaluate(StepAttr step, mlir::ArrayRef<Known> in,
                                std::string &why);
  /// Can the step's type hold every value that the cases describe?
  bool fits(StepAttr step, const Cases &cases) const;
  /// Variables of an expression, counted in divisions too.
  int64_t numVariables(const Linear &linear) const;

private:
  std::optional<Cases> select(mlir::ArrayRef<Known> in, std::string &why);
  std::optional<Cases> multiply(mlir::StringRef name, const Cases &a,
                                const Cases &b, std::string &why);
  Cases extremum(mlir::StringRef name, const Cases &a, const Cases &b);
  std::optional<Cases> divide(mlir::StringRef name, const Cases &value,
                              const Cases &divisor, std::string &why);
  bool isNonNegative(const Cases &cases) const;

  MaskContext &context;
  std::map<int, Bounds> ranges; ///< of symbols
};

} // namespace attn

#endif
