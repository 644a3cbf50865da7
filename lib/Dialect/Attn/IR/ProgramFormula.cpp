// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The formula of a program of arith ops.
//
// An integer is a list of (condition, linear expression), disjoint and
// exhaustive: that is how select, min, max and division that rounds to zero
// become linear. Integers that are the same for all pairs are symbols. What has
// no such reading is refused with its reason, and what depends on it is
// unknown.
//
// Expressions are integers without bounds. An op is read only if its result
// cannot wrap: lengths are below 2^31, captured integers of 64 bits and of type
// index below 2^40 in magnitude, and `overflow<nsw>` is believed. Constants are
// compared whatever they are, and computed with only below 2^60.
//
// Formulas are trees, and an exclusive or repeats both of its operands: a chain
// of n has 2^n leaves. What grows beyond a limit is unknown as well. Nothing is
// lost but bounds, since such a predicate is emitted step by step.
#include "attn/Dialect/Attn/IR/MaskProgram.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace attn;
using arith::CmpIPredicate;

namespace {
struct Case {
  Formula when;
  Linear value;
};
using Cases = SmallVector<Case, 2>;

/// What is known of a value: nothing, an integer, or a truth value.
struct Known {
  std::optional<Cases> integer;
  Formula truth; ///< null if unknown
};

/// Doubles: too large is as good as infinite.
struct Bounds {
  double low, high;
};

class Importer {
public:
  Importer(MaskContext &context, ProgramAttr program,
           ArrayRef<OperandAttr> operands,
           SmallVectorImpl<ProgramRefusal> &refusals)
      : context(context), program(program), operands(operands),
        refusals(refusals), uniform(uniformValues(program)) {}

  /// The formula; unknown truth values are opaque literals of no term.
  Formula run();
  /// Symbols with values that may be larger than ranges say.
  ArrayRef<Linear> wideSymbols() const { return wide; }

private:
  static constexpr size_t maxCases = 8;
  /// Comparisons of one formula, or of the conditions of all cases.
  static constexpr int64_t maxComparisons = 512;
  /// Variables of one expression, counted in divisions too.
  static constexpr int64_t maxVariables = 64;
  static constexpr const char *noReading = "has no linear reading";
  static constexpr const char *notLinear = "reads a value that is not linear";

  void addInputs();
  void addSymbol(Type type, const std::string &name, const Linear &symbol);
  Known evaluate(StepAttr step, std::string &why);
  Known truthStep(StringRef name, ArrayRef<Known> in, std::string &why);
  std::optional<Cases> integerStep(StepAttr step, ArrayRef<Known> in,
                                   std::string &why);
  std::optional<Cases> select(ArrayRef<Known> in, std::string &why);
  std::optional<Cases> multiply(StringRef name, const Cases &a, const Cases &b,
                                std::string &why);
  Cases extremum(StringRef name, const Cases &a, const Cases &b);
  std::optional<Cases> divide(StringRef name, const Cases &value,
                              const Cases &divisor, std::string &why);
  std::optional<Formula> compare(CmpIPredicate predicate, const Cases &left,
                                 const Cases &right, std::string &why);
  bool fits(StepAttr step, const Cases &cases);
  bool isTooLong(const Known &known, std::string &why) const;
  int64_t numVariables(const Linear &linear) const;
  Bounds range(const Linear &linear) const;
  bool isNonNegative(const Cases &cases) const {
    return llvm::all_of(cases,
                        [&](const Case &c) { return range(c.value).low >= 0; });
  }
  template <typename Function>
  Cases each(const Cases &cases, Function function) const {
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
  Cases pairwise(const Cases &a, const Cases &b, Function function) const {
    return each(a, [&](const Linear &x) {
      return each(b, [&](const Linear &y) { return function(x, y); });
    });
  }
  static Cases single(const Linear &linear) { return {{truth(true), linear}}; }

  MaskContext &context;
  ProgramAttr program;
  ArrayRef<OperandAttr> operands;
  SmallVectorImpl<ProgramRefusal> &refusals;
  SmallVector<bool> uniform;
  SmallVector<Known> values;
  std::map<int, Bounds> ranges; ///< of symbols
  SmallVector<Linear> wide;     ///< symbols of captured 64-bit integers
};
} // namespace

/// Computed values lie well inside of 64 bits, since coefficients of the
/// analysis are no larger.
static constexpr double mostComputed = 0x1p60;
static constexpr int64_t beyondComputed = int64_t(1) << 61;

static std::optional<int64_t> constantOf(const Cases &cases) {
  if (cases.size() == 1 && cases[0].value.isConstant())
    return cases[0].value.constant;
  return std::nullopt;
}

Bounds Importer::range(const Linear &linear) const {
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

/// Can the step's type hold every value that the cases describe?
bool Importer::fits(StepAttr step, const Cases &cases) {
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

static int64_t numComparisons(const Formula &formula) {
  if (formula->children.empty())
    return 1;
  int64_t count = 0;
  for (const Formula &child : formula->children)
    count += numComparisons(child);
  return count;
}

int64_t Importer::numVariables(const Linear &linear) const {
  int64_t count = 0;
  for (const auto &term : linear.terms)
    count += Variable::isDivision(term.first)
                 ? 1 + numVariables(context.division(term.first).numerator)
                 : 1;
  return count;
}

/// Steps read what is not too long, so that no step takes long to read.
bool Importer::isTooLong(const Known &known, std::string &why) const {
  int64_t comparisons = known.truth ? numComparisons(known.truth) : 0;
  for (const Case &c : known.integer.value_or(Cases())) {
    comparisons += numComparisons(c.when);
    if (numVariables(c.value) > maxVariables) {
      why = "adds up more than 64 values";
      return true;
    }
  }
  if (comparisons > maxComparisons)
    why = "needs more than 512 comparisons";
  return comparisons > maxComparisons;
}

void Importer::addSymbol(Type type, const std::string &name,
                         const Linear &symbol) {
  Known known;
  if (type.isInteger(1)) {
    known.truth = attn::isNonNegative(symbol - Linear(1));
  } else {
    bool narrow = !type.isIndex() && type.getIntOrFloatBitWidth() < 64;
    double limit = narrow ? std::ldexp(1.0, type.getIntOrFloatBitWidth() - 1)
                          : static_cast<double>(MaskContext::MaxNumber);
    ranges[symbol.terms.begin()->first] = {-limit, narrow ? limit - 1 : limit};
    if (!narrow)
      wide.push_back(symbol);
    known.integer = single(symbol);
  }
  values.push_back(known);
}

void Importer::addInputs() {
  for (const char *name : {"b", "h"}) {
    Linear symbol = context.freeSymbol(name, /*nonNegative=*/true);
    ranges[symbol.terms.begin()->first] = {0, 2147483647.0};
    values.push_back({single(symbol), nullptr});
  }
  values.push_back({single(Linear::query()), nullptr});
  values.push_back({single(Linear::key()), nullptr});
  for (auto [type, operand] : llvm::zip(program.getInputs(), operands)) {
    std::string name = "x" + std::to_string(operand.getPosition());
    if (type.isIntOrIndex())
      addSymbol(type, name, context.operandSymbol(operand.getPosition(), name));
    else
      values.emplace_back();
  }
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

std::optional<Cases> Importer::divide(StringRef name, const Cases &value,
                                      const Cases &divisor, std::string &why) {
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
      return single(floor(x));
    if (name == "ceildivsi")
      return single(floor(x * -1) * -1);
    if (name == "andi" || name == "remui")
      return single(context.modulo(x, *by));
    // divsi and remsi round to zero: a floor only where x is not negative.
    Cases quotient = single(floor(x));
    if (range(x).low < 0)
      quotient = {{attn::isNonNegative(x), floor(x)},
                  {negate(attn::isNonNegative(x)), floor(x * -1) * -1}};
    if (name == "remsi")
      for (Case &c : quotient)
        c.value = x - c.value * *by;
    return quotient;
  });
}

std::optional<Cases> Importer::select(ArrayRef<Known> in, std::string &why) {
  if (!in[0].truth || !in[1].integer || !in[2].integer) {
    why = notLinear;
    return std::nullopt;
  }
  Cases result;
  for (const Case &c : *in[1].integer)
    result.push_back({allOf({in[0].truth, c.when}), c.value});
  for (const Case &c : *in[2].integer)
    result.push_back({allOf({negate(in[0].truth), c.when}), c.value});
  return result;
}

std::optional<Cases> Importer::multiply(StringRef name, const Cases &a,
                                        const Cases &b, std::string &why) {
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
              [&](const Linear &x) { return single(x * *factor); });
}

/// min and max, of which one operand is the answer.
Cases Importer::extremum(StringRef name, const Cases &a, const Cases &b) {
  bool isMin = name.starts_with("min");
  return pairwise(a, b, [&](const Linear &x, const Linear &y) -> Cases {
    Formula first = lessEqual(x, y);
    return {{first, isMin ? x : y}, {negate(first), isMin ? y : x}};
  });
}

std::optional<Cases> Importer::integerStep(StepAttr step, ArrayRef<Known> in,
                                           std::string &why) {
  StringRef name = step.getName().getValue().split('.').second;
  if (auto constant = step.getAttributes().getAs<IntegerAttr>("value"))
    return single(Linear(constant.getInt()));
  if (name == "select")
    return select(in, why);
  if (in.empty() ||
      !llvm::all_of(in, [](const Known &k) { return k.integer.has_value(); })) {
    why = in.empty() ? noReading : notLinear;
    return std::nullopt;
  }
  const Cases &a = *in[0].integer, &b = *in.back().integer;
  if (name == "addi")
    return pairwise(a, b, [](auto &x, auto &y) { return single(x + y); });
  if (name == "subi")
    return pairwise(a, b, [](auto &x, auto &y) { return single(x - y); });
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
  why = noReading;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Truth values
//===----------------------------------------------------------------------===//

/// A constant that lies beyond all computed values is as good as the nearest
/// number that does, which has room for a difference.
static Linear nearConstant(const Linear &linear) {
  if (!linear.isConstant())
    return linear;
  return std::clamp(linear.constant, -beyondComputed, beyondComputed);
}

std::optional<Formula> Importer::compare(CmpIPredicate predicate,
                                         const Cases &left, const Cases &right,
                                         std::string &why) {
  auto isBeyond = [](const Case &c) {
    return c.value.isConstant() &&
           !(nearConstant(c.value) == c.value &&
             std::abs(c.value.constant) < beyondComputed);
  };
  if (llvm::any_of(left, isBeyond) && llvm::any_of(right, isBeyond)) {
    why = "compares two constants";
    return std::nullopt;
  }
  for (const Case &a : left)
    for (const Case &b : right) {
      Linear difference = nearConstant(a.value) - nearConstant(b.value);
      if ((difference - Linear(1)).overflow ||
          (difference * -1 - Linear(1)).overflow) {
        why = "compares values that are too far apart";
        return std::nullopt;
      }
    }
  bool isUnsigned = predicate >= CmpIPredicate::ult;
  auto holds = [&](const Linear &x, const Linear &y) {
    switch (predicate) {
    case CmpIPredicate::eq:
      return isZero(x - y);
    case CmpIPredicate::ne:
      return negate(isZero(x - y));
    case CmpIPredicate::slt:
    case CmpIPredicate::ult:
      return lessThan(x, y);
    case CmpIPredicate::sle:
    case CmpIPredicate::ule:
      return lessEqual(x, y);
    case CmpIPredicate::sgt:
    case CmpIPredicate::ugt:
      return lessThan(y, x);
    case CmpIPredicate::sge:
    case CmpIPredicate::uge:
      return lessEqual(y, x);
    }
    llvm_unreachable("all predicates are handled");
  };
  SmallVector<Formula> all;
  for (const Case &a : left)
    for (const Case &b : right) {
      Formula result = holds(nearConstant(a.value), nearConstant(b.value));
      bool mixed = range(a.value).low < 0 || range(b.value).low < 0;
      if (isUnsigned && mixed) { // of two signs, the negative one is larger
        Formula x = attn::isNonNegative(a.value),
                y = attn::isNonNegative(b.value);
        bool less =
            predicate == CmpIPredicate::ult || predicate == CmpIPredicate::ule;
        Formula differs = less ? allOf({x, negate(y)}) : allOf({negate(x), y});
        Formula alike = anyOf({allOf({x, y}), allOf({negate(x), negate(y)})});
        result = anyOf({allOf({alike, result}), differs});
      }
      all.push_back(allOf({a.when, b.when, result}));
    }
  return anyOf(all);
}

Known Importer::truthStep(StringRef name, ArrayRef<Known> in,
                          std::string &why) {
  Known known;
  if (in.empty() ||
      !llvm::all_of(in, [](const Known &k) { return k.truth != nullptr; })) {
    why = in.empty() ? noReading : notLinear;
    return known;
  }
  Formula a = in[0].truth, b = in.back().truth;
  if (name == "andi")
    known.truth = allOf({a, b});
  else if (name == "ori")
    known.truth = anyOf({a, b});
  else if (name == "xori")
    known.truth = anyOf({allOf({a, negate(b)}), allOf({negate(a), b})});
  else if (name == "select")
    known.truth = anyOf({allOf({a, in[1].truth}), allOf({negate(a), b})});
  else
    why = noReading;
  return known;
}

Known Importer::evaluate(StepAttr step, std::string &why) {
  StringRef name = step.getName().getValue();
  SmallVector<Known> in;
  for (int64_t value : step.getOperands().asArrayRef())
    in.push_back(values[value]);
  Known known;
  if (!name.consume_front("arith.")) {
    why = noReading;
    return known;
  }
  if (name == "cmpi") {
    auto predicate = static_cast<CmpIPredicate>(
        step.getAttributes().getAs<IntegerAttr>("predicate").getInt());
    if (in[0].integer && in[1].integer) {
      known.truth = compare(predicate, *in[0].integer, *in[1].integer, why)
                        .value_or(Formula());
      return known;
    }
    if (predicate != CmpIPredicate::eq && predicate != CmpIPredicate::ne) {
      why = notLinear;
      return known;
    }
    known = truthStep("xori", in, why);
    if (known.truth && predicate == CmpIPredicate::eq)
      known.truth = negate(known.truth);
    return known;
  }
  if (step.getType().isInteger(1)) {
    if (auto constant = step.getAttributes().getAs<IntegerAttr>("value")) {
      known.truth = truth(!constant.getValue().isZero());
      return known;
    }
    return truthStep(name, in, why);
  }
  if (!step.getType().isIntOrIndex()) {
    why = "computes no integer";
    return known;
  }
  known.integer = integerStep(step, in, why);
  if (in.empty()) // a constant, which need not fit into a computation
    return known;
  if (known.integer && known.integer->size() > maxCases) {
    why = "distinguishes more than 8 cases";
    known.integer.reset();
  } else if (known.integer && !fits(step, *known.integer)) {
    why = "may wrap around; use index, or overflow<nsw>";
    known.integer.reset();
  }
  return known;
}

Formula Importer::run() {
  addInputs();
  size_t first = values.size();
  for (auto [i, step] : llvm::enumerate(program.getSteps())) {
    std::string why;
    Known known = evaluate(step, why);
    if (isTooLong(known, why))
      known = {};
    bool isKnown = known.integer || known.truth;
    if (!isKnown && uniform[first + i]) {
      // The same for all pairs: whatever it is, it is a symbol.
      std::string name = "x" + std::to_string(first + i);
      if (step.getType().isIntOrIndex())
        addSymbol(step.getType(), name, context.freeSymbol(name));
      else
        values.emplace_back();
      continue;
    }
    if (!isKnown && why != notLinear)
      refusals.push_back({i, why});
    if (!isKnown && step.getType().isInteger(1))
      known.truth = opaque(0, "unknown");
    values.push_back(known);
  }
  Formula result = values.back().truth;
  return result ? result : opaque(0, "unknown");
}

/// `formula` with every opaque literal replaced by true: it holds wherever
/// `formula` may.
static Formula overApproximate(const Formula &formula) {
  SmallVector<Formula> children;
  for (const Formula &child : formula->children)
    children.push_back(overApproximate(child));
  switch (formula->kind) {
  case FormulaKind::Opaque:
    return truth(true);
  case FormulaKind::And:
    return allOf(children);
  case FormulaKind::Or:
    return anyOf(children);
  default:
    return formula;
  }
}

static bool hasOpaque(const Formula &formula) {
  return formula->kind == FormulaKind::Opaque ||
         llvm::any_of(formula->children, hasOpaque);
}

Formula attn::programFormula(MaskContext &context, ProgramAttr program,
                             ArrayRef<OperandAttr> operands, const void *term,
                             SmallVectorImpl<ProgramRefusal> &refusals) {
  Importer importer(context, program, operands, refusals);
  Formula formula = importer.run();
  if (!hasOpaque(formula)) {
    refusals.clear();
    return formula;
  }
  // The program itself gets them as they are.
  for (const Linear &symbol : importer.wideSymbols())
    context.setSaturates(symbol);
  return opaque(term, "predicate", {Linear::query(), Linear::key()},
                overApproximate(formula), overApproximate(negate(formula)));
}
