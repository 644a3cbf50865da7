// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The formula of a program of arith ops.
//
// Integers are read by ProgramIntegers.cpp; those that are the same for all
// pairs are symbols. What has no reading is refused with its reason, and what
// depends on it is unknown. Constants are compared whatever they are.
//
// Formulas are trees, and an exclusive or repeats both of its operands: a chain
// of n has 2^n leaves. What grows beyond a limit is unknown as well. Nothing is
// lost but bounds, since such a predicate is emitted step by step.
#include "ProgramIntegers.h"
#include "attn/Dialect/Attn/IR/Mask/MaskProgram.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace attn;
using arith::CmpIPredicate;

namespace {
class Importer {
public:
  Importer(MaskContext &context, ProgramAttr program,
           ArrayRef<OperandAttr> operands,
           SmallVectorImpl<ProgramRefusal> &refusals)
      : context(context), integers(context), program(program),
        operands(operands), refusals(refusals),
        uniform(uniformValues(program)) {}

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

  void addInputs();
  void addSymbol(Type type, const std::string &name, const Linear &symbol);
  Known evaluate(StepAttr step, std::string &why);
  Known truthStep(StringRef name, ArrayRef<Known> in, std::string &why);
  std::optional<Formula> compare(CmpIPredicate predicate, const Cases &left,
                                 const Cases &right, std::string &why);
  bool isTooLong(const Known &known, std::string &why) const;

  MaskContext &context;
  ProgramIntegers integers;
  ProgramAttr program;
  ArrayRef<OperandAttr> operands;
  SmallVectorImpl<ProgramRefusal> &refusals;
  SmallVector<bool> uniform;
  SmallVector<Known> values;
  SmallVector<Linear> wide; ///< symbols of captured 64-bit integers
};
} // namespace

static int64_t numComparisons(const Formula &formula) {
  if (formula->children.empty())
    return 1;
  int64_t count = 0;
  for (const Formula &child : formula->children)
    count += numComparisons(child);
  return count;
}

/// Steps read what is not too long, so that no step takes long to read.
bool Importer::isTooLong(const Known &known, std::string &why) const {
  int64_t comparisons = known.truth ? numComparisons(known.truth) : 0;
  for (const Case &c : known.integer.value_or(Cases())) {
    comparisons += numComparisons(c.when);
    if (integers.numVariables(c.value) > maxVariables) {
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
    integers.setRange(symbol, {-limit, narrow ? limit - 1 : limit});
    if (!narrow)
      wide.push_back(symbol);
    known.integer = singleCase(symbol);
  }
  values.push_back(known);
}

void Importer::addInputs() {
  for (const char *name : {"b", "h"}) {
    Linear symbol = context.freeSymbol(name, /*nonNegative=*/true);
    integers.setRange(symbol, {0, 2147483647.0});
    values.push_back({singleCase(symbol), nullptr});
  }
  values.push_back({singleCase(Linear::query()), nullptr});
  values.push_back({singleCase(Linear::key()), nullptr});
  for (auto [type, operand] : llvm::zip(program.getInputs(), operands)) {
    std::string name = "x" + std::to_string(operand.getPosition());
    if (type.isIntOrIndex())
      addSymbol(type, name, context.operandSymbol(operand.getPosition(), name));
    else
      values.emplace_back();
  }
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

/// The comparison of two integers; unsigned ones have no sign.
static Formula holds(CmpIPredicate predicate, const Linear &x,
                     const Linear &y) {
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
  SmallVector<Formula> all;
  for (const Case &a : left)
    for (const Case &b : right) {
      Formula result =
          holds(predicate, nearConstant(a.value), nearConstant(b.value));
      bool mixed =
          integers.range(a.value).low < 0 || integers.range(b.value).low < 0;
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
    why = in.empty() ? noLinearReading : readsNoLinear;
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
    why = noLinearReading;
  return known;
}

Known Importer::evaluate(StepAttr step, std::string &why) {
  StringRef name = step.getName().getValue();
  SmallVector<Known> in;
  for (int64_t value : step.getOperands().asArrayRef())
    in.push_back(values[value]);
  Known known;
  if (!name.consume_front("arith.")) {
    why = noLinearReading;
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
      why = readsNoLinear;
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
  known.integer = integers.evaluate(step, in, why);
  if (in.empty()) // a constant, which need not fit into a computation
    return known;
  if (known.integer && known.integer->size() > maxCases) {
    why = "distinguishes more than 8 cases";
    known.integer.reset();
  } else if (known.integer && !integers.fits(step, *known.integer)) {
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
    if (!isKnown && why != readsNoLinear)
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
