// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arith ops on integers, read as linear expressions under conditions.
#include "ProgramIntegers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace attn;

/// Computed values lie well inside of 64 bits, since coefficients of the
/// analysis are no larger.
static constexpr double mostComputed = 0x1p60;

static std::optional<int64_t> constantOf(const Cases &cases) {
  if (cases.size() == 1 && cases[0].value.isConstant())
    return cases[0].value.constant;
  return std::nullopt;
}

ProgramIntegers::Bounds ProgramIntegers::range(const Linear &linear) const {
  if (linear.overflow)
    return {-HUGE_VAL, HUGE_VAL};
  Bounds sum{double(linear.constant), double(linear.constant)};
  for (const auto &[id, coefficient] : linear.terms) {
    Bounds one{0, 2147483647.0}; // q and k
    if (Variable::isDivision(id)) {
      const MaskContext::Division &division = context.division(id);
      Bounds inner = range(division.numerator);
      one = {std::floor(inner.low / division.divisor),
             std::floor(inner.high / division.divisor)};
    } else if (auto found = ranges.find(id); found != ranges.end()) {
      one = found->second;
    }
    double a = coefficient * one.low, b = coefficient * one.high;
    sum.low += std::min(a, b);
    sum.high += std::max(a, b);
  }
  return sum;
}

bool ProgramIntegers::fits(StepAttr step, const Cases &cases) const {
  Type type = step.getType();
  unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  auto flags = step.getAttributes().getAs<arith::IntegerOverflowFlagsAttr>(
      "overflowFlags");
  if (flags &&
      bitEnumContainsAll(flags.getValue(), arith::IntegerOverflowFlags::nsw))
    return llvm::none_of(cases, [](const Case &c) { return c.value.overflow; });
  double limit = bits >= 64 ? mostComputed : std::ldexp(1.0, bits - 1);
  return llvm::all_of(cases, [&](const Case &c) {
    Bounds r = range(c.value);
    return r.low >= -limit && r.high <= limit - 1;
  });
}

int64_t ProgramIntegers::numVariables(const Linear &linear) const {
  int64_t count = 0;
  for (const auto &term : linear.terms)
    count += Variable::isDivision(term.first)
                 ? 1 + numVariables(context.division(term.first).numerator)
                 : 1;
  return count;
}

bool ProgramIntegers::isNonNegative(const Cases &cases) const {
  return llvm::all_of(cases,
                      [&](const Case &c) { return range(c.value).low >= 0; });
}

template <typename Function>
static Cases each(const Cases &cases, Function function) {
  Cases result;
  for (const Case &c : cases)
    for (const Case &inner : function(c.value)) {
      Formula when = allOf({c.when, inner.when});
      if (when->kind != FormulaKind::False)
        result.push_back({when, inner.value});
    }
  return result;
}

template <typename Function>
static Cases pairwise(const Cases &a, const Cases &b, Function function) {
  return each(a, [&](const Linear &x) {
    return each(b, [&](const Linear &y) { return function(x, y); });
  });
}

std::optional<Cases> ProgramIntegers::divide(StringRef name, const Cases &value,
                                             const Cases &divisor,
                                             std::string &why) {
  std::optional<int64_t> by = constantOf(divisor);
  if (by && name == "shrsi")
    by = *by >= 0 && *by < 31 ? std::optional<int64_t>(int64_t(1) << *by)
                              : std::nullopt;
  if (name == "andi") // the remainder by a power of two
    by = by && *by >= 0 && *by < beyondComputed && llvm::isPowerOf2_64(*by + 1)
             ? std::optional<int64_t>(*by + 1)
             : std::nullopt;
  if (!by || *by <= 0) {
    why = "divides by what is not a positive constant";
    return std::nullopt;
  }
  if ((name == "divui" || name == "remui") && !isNonNegative(value)) {
    why = "divides an unsigned value that may be negative";
    return std::nullopt;
  }
  auto floor = [&](const Linear &x) { return context.floorDivide(x, *by); };
  return each(value, [&](const Linear &x) -> Cases {
    if (name == "floordivsi" || name == "shrsi" || name == "divui")
      return singleCase(floor(x));
    if (name == "ceildivsi")
      return singleCase(floor(x * -1) * -1);
    if (name == "andi" || name == "remui")
      return singleCase(context.modulo(x, *by));
    // divsi and remsi round to zero: a floor only where x is not negative.
    Cases quotient = singleCase(floor(x));
    if (range(x).low < 0)
      quotient = {{attn::isNonNegative(x), floor(x)},
                  {negate(attn::isNonNegative(x)), floor(x * -1) * -1}};
    if (name == "remsi")
      for (Case &c : quotient)
        c.value = x - c.value * *by;
    return quotient;
  });
}

std::optional<Cases> ProgramIntegers::select(ArrayRef<Known> in,
                                             std::string &why) {
  if (!in[0].truth || !in[1].integer || !in[2].integer) {
    why = readsNoLinear;
    return std::nullopt;
  }
  Cases result;
  for (const Case &c : *in[1].integer)
    result.push_back({allOf({in[0].truth, c.when}), c.value});
  for (const Case &c : *in[2].integer)
    result.push_back({allOf({negate(in[0].truth), c.when}), c.value});
  return result;
}

std::optional<Cases> ProgramIntegers::multiply(StringRef name, const Cases &a,
                                               const Cases &b,
                                               std::string &why) {
  std::optional<int64_t> factor = constantOf(b);
  bool swapped = name == "muli" && !factor;
  if (swapped)
    factor = constantOf(a);
  if (name == "shli")
    factor = factor && *factor >= 0 && *factor < 31
                 ? std::optional<int64_t>(int64_t(1) << *factor)
                 : std::nullopt;
  if (!factor) {
    why = "multiplies two run-time values";
    return std::nullopt;
  }
  return each(swapped ? b : a,
              [&](const Linear &x) { return singleCase(x * *factor); });
}

/// min and max, of which one operand is the answer.
Cases ProgramIntegers::extremum(StringRef name, const Cases &a,
                                const Cases &b) {
  bool isMin = name.starts_with("min");
  return pairwise(a, b, [&](const Linear &x, const Linear &y) -> Cases {
    Formula first = lessEqual(x, y);
    return {{first, isMin ? x : y}, {negate(first), isMin ? y : x}};
  });
}

std::optional<Cases>
ProgramIntegers::evaluate(StepAttr step, ArrayRef<Known> in, std::string &why) {
  StringRef name = step.getName().getValue().split('.').second;
  if (auto constant = step.getAttributes().getAs<IntegerAttr>("value"))
    return singleCase(Linear(constant.getInt()));
  if (name == "select")
    return select(in, why);
  if (in.empty() ||
      !llvm::all_of(in, [](const Known &k) { return k.integer.has_value(); })) {
    why = in.empty() ? noLinearReading : readsNoLinear;
    return std::nullopt;
  }
  const Cases &a = *in[0].integer, &b = *in.back().integer;
  if (name == "addi")
    return pairwise(a, b, [](auto &x, auto &y) { return singleCase(x + y); });
  if (name == "subi")
    return pairwise(a, b, [](auto &x, auto &y) { return singleCase(x - y); });
  if (name == "muli" || name == "shli")
    return multiply(name, a, b, why);
  if (name == "index_cast" || name == "extsi" || name == "trunci")
    return a;
  bool isUnsigned = name == "index_castui" || name == "extui" ||
                    name == "minui" || name == "maxui";
  if (isUnsigned && !(isNonNegative(a) && isNonNegative(b))) {
    why = "reads an unsigned value that may be negative";
    return std::nullopt;
  }
  if (name == "index_castui" || name == "extui")
    return a;
  if (name.starts_with("min") || name.starts_with("max"))
    return extremum(name, a, b);
  bool isDivision =
      llvm::StringSwitch<bool>(name)
          .Cases({"floordivsi", "ceildivsi", "divsi", "remsi"}, true)
          .Cases({"divui", "remui", "shrsi", "andi"}, true)
          .Default(false);
  if (isDivision)
    return divide(name, a, b, why);
  why = noLinearReading;
  return std::nullopt;
}
