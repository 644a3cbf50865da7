// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A gradient is checked without any formula for it: along a random direction v
// of one learned argument, <gradient, v> is what the f64 reference of the
// function itself says,
//   (8 (L(x + hv) - L(x - hv)) - (L(x + 2hv) - L(x - 2hv))) / 12h,
// where the loss L is the sum of the results times their random cotangents. The
// error is a share of the gradient's norm, which is what <gradient, v> is of
// the size of, or of a hundredth of the cotangents' or of the largest
// gradient's where it is smaller: one key alone has a weight of 1, and the
// gradient by it is what rounding leaves of 0. Where differences over h and 2h
// do not agree, the function jumps or bends between them, and a smaller h may
// pass by: a ReLU of some thousands of elements always has one that is nearly
// 0. An error counts if two h agree on it, since jumps may lie so that h and 2h
// agree, and only where x is no corner itself, such as a tie of a max, of which
// a kernel takes either side. A direction along which no h says anything is
// counted.
//
// Where 16 bits round, the error may be what this rounding makes of the
// gradient in the reference: a ReLU whose input is rounded takes the other side
// here and there.
#include "VerifyExpectations.h"
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::tool;
using reference::Datum;
using reference::Number;
using reference::Tensor;

static constexpr double steps[] = {1e-4, 7e-5, 1e-5, 7e-6, 1e-6, 7e-7};

static double toleranceOfGradient(Type element) {
  if (element.isF64())
    return 1e-7;
  if (element.isF32())
    return 1e-4;
  return element.isF16() ? 4e-3 : 3e-2; // and bf16
}

namespace {
/// What differences over h and 2h say of a function.
struct Bend {
  double slope;
  double disagreement; ///< of slopes over h and 2h
  double corner;       ///< what the slope jumps by at x itself
};

class Gradient : public Expectation {
public:
  Gradient(func::FuncOp function, func::FuncOp forward, func::FuncOp backward,
           ArrayRef<PortAttr> ports, std::mt19937_64 &random);

  func::FuncOp specification() const override { return function; }
  double passes() const override {
    return 5 + 5 * static_cast<double>(learned.size());
  }
  LogicalResult complete(std::vector<Array> &arrays) override;
  FailureOr<std::vector<ResultError>>
  compare(const std::vector<Array> &arrays) override;
  StringRef unit() const override { return "its norm along a direction"; }

private:
  SmallVector<Datum> argumentsOf(const std::vector<Array> &arrays);
  FailureOr<double> loss(const std::vector<Array> &arrays,
                         ArrayRef<Datum> arguments);
  /// Of each gradient the norm of what rounding to 16 bits makes of it.
  FailureOr<std::vector<double>> noise(const std::vector<Array> &arrays);
  FailureOr<ResultError> errorOf(const std::vector<Array> &arrays,
                                 const Array &gradient, unsigned argument,
                                 double noise);
  /// L(x + hv) of a direction v of one argument.
  FailureOr<double> lossAt(const std::vector<Array> &arrays, unsigned argument,
                           ArrayRef<double> direction, double h);
  FailureOr<Bend> bendOver(const std::vector<Array> &arrays, unsigned argument,
                           ArrayRef<double> direction, double h);

  func::FuncOp function, forward, backward;
  std::mt19937_64 &random;
  std::vector<unsigned> learned; ///< arguments
  /// Of inputs of the gradient: results of `forward`, and of those of the
  /// function the one whose cotangent it is.
  std::vector<std::pair<unsigned, unsigned>> residuals, cotangents;
  double size = 0; ///< of the cotangents, or of the largest gradient
  /// Elements of results that are finite where the gradient is taken.
  std::vector<std::vector<bool>> finite;
};
} // namespace

Gradient::Gradient(func::FuncOp function, func::FuncOp forward,
                   func::FuncOp backward, ArrayRef<PortAttr> ports,
                   std::mt19937_64 &random)
    : function(function), forward(forward), backward(backward), random(random) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (function.getArgAttr(i, "attn.gradient"))
      learned.push_back(i);
  std::vector<PortAttr> given = PortAttr::of(forward);
  unsigned arguments = function.getNumArguments(), next = 0;
  auto resultNamed = [&](StringRef name, unsigned from) {
    unsigned i = from;
    while (given[arguments + i].getName() != name)
      ++i;
    return i;
  };
  for (unsigned i = arguments; i < ports.size() && ports[i].getInput(); ++i) {
    StringRef name = ports[i].getName();
    if (!ports[i].getOptional()) {
      residuals.push_back({i, resultNamed(name, 0)});
      continue;
    }
    // In the order of the results, of which integers have none.
    while (!name.starts_with(
        ("d_" + given[arguments + next].getName().getValue()).str()))
      ++next;
    cotangents.push_back({i, next++});
  }
}

SmallVector<Datum> Gradient::argumentsOf(const std::vector<Array> &arrays) {
  SmallVector<Datum> arguments;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    arguments.push_back(reference::makeDatum(arrays[i].numbers()));
  return arguments;
}

static double squaresOf(const Array &array) {
  double squares = 0;
  for (const Number &number : array.numbers().elements)
    squares += number.real * number.real;
  return squares;
}

LogicalResult Gradient::complete(std::vector<Array> &arrays) {
  // Residuals fit each other: an out is that of values as they were rounded.
  reference::Options rounded;
  rounded.narrow = true;
  auto results = reference::evaluate(forward, argumentsOf(arrays), rounded);
  if (failed(results))
    return failure();
  for (auto [port, result] : residuals)
    for (auto [i, number] :
         llvm::enumerate(tensorOf((*results)[result]).elements))
      arrays[port].store(i, number);
  finite.clear();
  for (const Datum &result : *results) {
    std::vector<bool> &flags = finite.emplace_back();
    for (const Number &number : tensorOf(result).elements)
      flags.push_back(std::isfinite(number.real));
  }
  double squares = 0;
  for (auto [port, result] : cotangents)
    squares += squaresOf(arrays[port]);
  size = std::sqrt(squares);
  return success();
}

FailureOr<double> Gradient::loss(const std::vector<Array> &arrays,
                                 ArrayRef<Datum> arguments) {
  auto results = reference::evaluate(function, arguments);
  if (failed(results))
    return failure();
  double sum = 0;
  for (auto [port, result] : cotangents) {
    Tensor cotangent = arrays[port].numbers();
    ArrayRef<Number> numbers = tensorOf((*results)[result]).elements;
    for (auto [i, number] : llvm::enumerate(numbers))
      if (finite[result][i])
        sum += cotangent.elements[i].real * number.real;
  }
  return sum;
}

FailureOr<double> Gradient::lossAt(const std::vector<Array> &arrays,
                                   unsigned argument,
                                   ArrayRef<double> direction, double h) {
  SmallVector<Datum> arguments = argumentsOf(arrays);
  Tensor moved = arrays[argument].numbers();
  for (auto [i, v] : llvm::enumerate(direction))
    moved.elements[i].real += h * v;
  arguments[argument] = reference::makeDatum(std::move(moved));
  return loss(arrays, arguments);
}

FailureOr<Bend> Gradient::bendOver(const std::vector<Array> &arrays,
                                   unsigned argument,
                                   ArrayRef<double> direction, double h) {
  double losses[5];
  for (int i = -2; i <= 2; ++i) {
    FailureOr<double> found = lossAt(arrays, argument, direction, i * h);
    if (failed(found))
      return failure();
    losses[i + 2] = *found;
  }
  double near = (losses[3] - losses[1]) / (2 * h);
  double far = (losses[4] - losses[0]) / (4 * h);
  // What is curved turns by twice as much over 2h, what has a corner as over h.
  double turn = (losses[3] + losses[1] - 2 * losses[2]) / h;
  double farTurn = (losses[4] + losses[0] - 2 * losses[2]) / (2 * h);
  return Bend{(4 * near - far) / 3, std::abs(near - far),
              std::abs(2 * turn - farTurn)};
}

FailureOr<std::vector<double>>
Gradient::noise(const std::vector<Array> &arrays) {
  std::vector<double> norms(learned.size(), 0);
  // A residual of what was rounded is as wrong as that.
  if (!roundsTo16Bits(backward) && !roundsTo16Bits(forward))
    return norms;
  auto exact = reference::evaluate(forward, argumentsOf(arrays));
  if (failed(exact))
    return failure();
  SmallVector<Datum> given;
  for (const Array &array : ArrayRef(arrays).drop_back(learned.size()))
    given.push_back(reference::makeDatum(array.numbers()));
  reference::Options rounding;
  rounding.narrow = true;
  auto rounded = reference::evaluate(backward, given, rounding);
  for (auto [port, result] : residuals)
    given[port] = (*exact)[result];
  auto wanted = reference::evaluate(backward, given);
  if (failed(rounded) || failed(wanted))
    return failure();
  for (auto [norm, x, y] : llvm::zip_equal(norms, *rounded, *wanted)) {
    for (auto [a, b] :
         llvm::zip_equal(tensorOf(x).elements, tensorOf(y).elements))
      norm += (a.real - b.real) * (a.real - b.real);
    norm = std::isfinite(norm) ? std::sqrt(norm) : 0;
  }
  return norms;
}

FailureOr<ResultError> Gradient::errorOf(const std::vector<Array> &arrays,
                                         const Array &gradient,
                                         unsigned argument, double noise) {
  std::normal_distribution<double> normal;
  std::vector<double> direction(gradient.size());
  double slope = 0;
  for (auto [i, v] : llvm::enumerate(direction)) {
    v = normal(random);
    slope += gradient.load(i).real * v;
  }
  double scale = std::max({std::sqrt(squaresOf(gradient)), size / 10, 1e-30});
  // Along a direction, four deviations of what rounding alone does.
  double most = std::max(
      toleranceOfSteps(function, gradient.element(), toleranceOfGradient),
      4 * noise / scale);
  double before = NAN; // what the step before said
  for (double h : steps) {
    auto bend = bendOver(arrays, argument, direction, h);
    if (failed(bend))
      return failure();
    double error = std::abs(slope - bend->slope) / scale;
    if (std::isnan(error))
      return ResultError{INFINITY, most};
    if (bend->disagreement > 10 * most * scale)
      continue;
    bool agrees = std::abs(bend->slope - before) <= 10 * most * scale;
    bool isCorner = bend->corner >= error * scale / 4;
    if (error <= most || (agrees && !isCorner))
      return ResultError{error, most};
    before = bend->slope;
  }
  return ResultError{-1, most};
}

FailureOr<std::vector<ResultError>>
Gradient::compare(const std::vector<Array> &arrays) {
  std::vector<ResultError> errors;
  const Array *result = arrays.data() + arrays.size() - learned.size();
  for (size_t i = 0; i < learned.size(); ++i)
    if (double norm = std::sqrt(squaresOf(result[i])); std::isfinite(norm))
      size = std::max(size, norm);
  auto noises = noise(arrays);
  if (failed(noises))
    return failure();
  for (auto [argument, of] : llvm::zip_equal(learned, *noises)) {
    auto error = errorOf(arrays, *result++, argument, of);
    if (failed(error))
      return failure();
    errors.push_back(*error);
  }
  return errors;
}

std::unique_ptr<Expectation> tool::expectGradient(func::FuncOp function,
                                                  func::FuncOp forward,
                                                  func::FuncOp backward,
                                                  ArrayRef<PortAttr> ports,
                                                  std::mt19937_64 &random) {
  return std::make_unique<Gradient>(function, forward, backward, ports, random);
}
