// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A result is within its tolerance if no element is further from the f64
// reference than that share of the result's largest element: sums over keys
// have that scale. Where 16 bits round, the error may be four times what this
// rounding makes of the result in the reference: a score function may square
// what has been rounded.
#include "VerifyExpectations.h"
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::tool;
using reference::Datum;
using reference::Number;

/// The size of the largest finite element.
static double largestOf(const reference::Tensor &tensor) {
  double largest = 1e-30;
  for (const Number &number : tensor.elements)
    if (std::isfinite(number.real))
      largest = std::max(largest, std::abs(number.real));
  return largest;
}

/// The largest difference to the reference, in units of the largest element;
/// infinity where one is no number and the other is.
static double largestError(const Array &found, const reference::Tensor &want) {
  double scale = largestOf(want), error = 0;
  for (int64_t i = 0; i < found.size(); ++i) {
    Number got = found.load(i), expected = want.elements[i];
    if (!isa<FloatType>(found.element()))
      error = got.integer == expected.integer ? error : INFINITY;
    else if (std::isfinite(got.real) && std::isfinite(expected.real))
      error = std::max(error, std::abs(got.real - expected.real) / scale);
    else if (!(got.real == expected.real ||
               (std::isnan(got.real) && std::isnan(expected.real))))
      error = INFINITY;
  }
  return error;
}

/// The same of what rounding to 16 bits makes of the reference.
static double roundingOf(const reference::Tensor &rounded,
                         const reference::Tensor &exact) {
  double most = 0;
  for (auto [a, b] : llvm::zip_equal(rounded.elements, exact.elements))
    if (std::isfinite(a.real) && std::isfinite(b.real))
      most = std::max(most, std::abs(a.real - b.real));
  return most / largestOf(exact);
}

static double toleranceOfResult(Type element) {
  if (element.isF64())
    return 1e-11;
  if (element.isF32())
    return 1e-4;
  if (!isa<FloatType>(element))
    return 0;
  return element.isF16() ? 4e-3 : 3e-2; // and bf16
}

namespace {
class Results : public Expectation {
public:
  Results(func::FuncOp function, func::FuncOp whole)
      : functions{function, whole} {}

  func::FuncOp specification() const override { return functions[0]; }
  FailureOr<std::vector<ResultError>>
  compare(const std::vector<Array> &arrays) override {
    SmallVector<Datum> inputs;
    for (const Array &array : arrays)
      if (array.port.getInput())
        inputs.push_back(reference::makeDatum(array.numbers()));
    std::vector<ResultError> errors;
    for (const Array &array : llvm::drop_begin(arrays, inputs.size()))
      errors.push_back({0, toleranceOfSteps(functions[0], array.element(),
                                            toleranceOfResult)});
    for (func::FuncOp function : functions) {
      if (!function)
        continue;
      auto wanted = reference::evaluate(function, inputs);
      if (failed(wanted))
        return failure();
      for (auto [i, datum] : llvm::enumerate(*wanted))
        errors[i].error =
            std::max(errors[i].error,
                     largestError(arrays[inputs.size() + i], tensorOf(datum)));
    }
    if (failed(allowForRounding(inputs, errors)))
      return failure();
    return errors;
  }
  StringRef unit() const override { return "the largest element"; }

private:
  /// Raises tolerances of errors above them by what rounding does.
  LogicalResult allowForRounding(ArrayRef<Datum> inputs,
                                 std::vector<ResultError> &errors);

  func::FuncOp functions[2];
};
} // namespace

LogicalResult Results::allowForRounding(ArrayRef<Datum> inputs,
                                        std::vector<ResultError> &errors) {
  func::FuncOp all = functions[1] ? functions[1] : functions[0];
  if (!roundsTo16Bits(all) || llvm::none_of(errors, [](ResultError e) {
        return e.error > e.tolerance;
      }))
    return success();
  reference::Options rounding;
  rounding.narrow = true;
  auto rounded = reference::evaluate(all, inputs, rounding);
  auto exact = reference::evaluate(all, inputs);
  if (failed(rounded) || failed(exact))
    return failure();
  for (auto [error, x, y] : llvm::zip(errors, *rounded, *exact))
    error.tolerance =
        std::max(error.tolerance, 4 * roundingOf(tensorOf(x), tensorOf(y)));
  return success();
}

std::unique_ptr<Expectation> tool::expectResults(func::FuncOp function,
                                                 func::FuncOp whole) {
  return std::make_unique<Results>(function, whole);
}
