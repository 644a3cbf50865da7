// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks people use.

#include "NamedMasks.h"
#include "RandomMask.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>

using namespace attn;
using namespace attn::test;

static bool check(bool condition, const char *what,
                  const std::string &found = "") {
  if (!condition)
    std::printf("FAILED: %s %s\n", what, found.c_str());
  return condition;
}

namespace {
struct NamedMask {
  const char *name;
  std::function<Formula(MaskContext &)> make;
  KeyLoopForm form;
  bool head, tail;        ///< with ignoreRaggedTail
  bool neverFull = false; ///< without
};
} // namespace

static Formula neighbourhood(MaskContext &context) {
  // 7 x 7 in an image 64 wide.
  Linear rows = context.floorDivide(q, 64) - context.floorDivide(k, 64);
  Linear columns = context.modulo(q, 64) - context.modulo(k, 64);
  return allOf({lessEqual(rows, 3), lessEqual(-3, rows), lessEqual(columns, 3),
                lessEqual(-3, columns)});
}

static std::vector<NamedMask> namedMasks() {
  auto scalar = [](MaskContext &c, const char *name, unsigned operand = 0) {
    return c.operandSymbol(operand, name, true);
  };
  const KeyLoopForm loops = KeyLoopForm::Loops, walk = KeyLoopForm::Walk;
  return {
      {"none", [](auto &) { return truth(true); }, loops, false, false},
      {"causal", [](auto &) { return causal(0); }, loops, false, true},
      {"bottom right",
       [](auto &) {
         return causal(Linear::keyLength() - Linear::queryLength());
       },
       loops, false, true},
      {"window",
       [=](auto &c) { return window(scalar(c, "l"), scalar(c, "r", 1)); },
       loops, true, true},
      {"causal window",
       [=](auto &c) { return allOf({causal(0), window(scalar(c, "l"), 0)}); },
       loops, true, true},
      {"key length, causal",
       [=](auto &c) { return allOf({causal(0), prefix(scalar(c, "n"))}); },
       loops, false, true},
      {"prefix-LM",
       [=](auto &c) { return anyOf({causal(0), prefix(scalar(c, "n"))}); },
       loops, false, true},
      {"sink and window",
       [](auto &) {
         return allOf({anyOf({prefix(4), window(1023, 0)}), causal(0)});
       },
       walk, false, false},
      {"chunked causal",
       [](auto &c) { return allOf({chunked(c, 256), causal(0)}); }, loops,
       false, true},
      {"dilated 4", [](auto &c) { return dilated(c, 4); }, loops, true, false,
       true},
      {"neighbourhood", neighbourhood, loops, true, false, true},
      {"checkerboard",
       [](auto &c) {
         return isZero(
             c.modulo(c.floorDivide(q, 128) + c.floorDivide(k, 128), 2));
       },
       walk, false, false},
  };
}

static bool checkForms() {
  bool good = true;
  for (const NamedMask &mask : namedMasks()) {
    MaskContext context;
    Formula formula = mask.make(context);
    KeyRanges ranges = analyzeMask(context, formula, {64, 64}, {true, true});
    good &= check(ranges.form == mask.form, mask.name, toString(ranges));
    good &= check(ranges.visit.exact && ranges.notFull.exact && !ranges.gaveUp,
                  mask.name, "is not exact");
    good &= check(ranges.head.empty() != mask.head &&
                      ranges.tail.empty() != mask.tail,
                  mask.name, toString(ranges));
    good &= check(!isNeverVisible(context, formula), mask.name, "is visible");
    // With the ragged tail as an edge there is always one at the end.
    ranges = analyzeMask(context, formula, {64, 64});
    good &= check(ranges.neverFull == mask.neverFull, mask.name, "never full");
    good &= check(ranges.form != KeyLoopForm::Loops || ranges.neverFull ||
                      !ranges.tail.empty(),
                  mask.name, toString(ranges));
  }
  return good;
}

/// Each in less than 5 ms, and with a tenth of the work that is allowed. The
/// best of several runs: the machine may be busy.
static bool checkTime() {
  using Clock = std::chrono::steady_clock;
  bool good = true;
  for (const NamedMask &mask : namedMasks()) {
    double best = std::numeric_limits<double>::max();
    int64_t work = 0;
    for (int run = 0; run < 5; ++run) {
      Clock::time_point start = Clock::now();
      MaskContext context;
      KeyRanges ranges =
          analyzeMask(context, mask.make(context), {64, 64}, {true, true});
      std::chrono::duration<double, std::milli> time = Clock::now() - start;
      best = std::min(best, time.count());
      work = ranges.work;
    }
    std::printf("%-18s %6.2f ms, %7lld units of work\n", mask.name, best,
                static_cast<long long>(work));
    good &= check(work * 10 < BoundsOptions().work, mask.name, "is much work");
#ifdef NDEBUG // with optimization
    good &= check(best < 5, mask.name, "takes too long");
#endif
  }
  return good;
}

static bool prints(const MaskContext &context, const Formula &formula,
                   const char *expected) {
  std::string text = context.toString(formula);
  return check(text == expected, expected, "printed as " + text);
}

static bool checkPrinting() {
  MaskContext c;
  Linear n = c.operandSymbol(3, "n", true), w = c.operandSymbol(4, "w");
  bool good = check(n == c.operandSymbol(3, "other"), "symbols are shared");
  good &= check(c.symbols().back().operand == 4, "symbols know their operand");
  good &= prints(c, causal(Linear::keyLength() - Linear::queryLength()),
                 "k <= q + Skv - Sq");
  good &= prints(c, prefix(n), "k < n");
  good &= prints(c, negate(prefix(n)), "k >= n");
  good &= prints(c, negate(causal(0)), "k > q");
  good &= prints(c, allOf({window(w, 0), anyOf({prefix(4), causal(-1)})}),
                 "k >= q - w and k <= q and (k <= 3 or k < q)");
  good &= prints(c, chunked(c, 256), "floor(q/256) == floor(k/256)");
  good &= prints(c, negate(opaque(0, "document")), "not document");
  good &= prints(c, allOf({truth(true), truth(false)}), "false");
  KeyRanges ranges = analyzeMask(c, causal(0), {64, 64}, {true, true});
  good &=
      check(toString(ranges) ==
                "form loops\n"
                "visit\n"
                "  kt in [0 .. min(floor((Skv - 1)/64), floor((qhi - 1)/64))]\n"
                "not full\n"
                "  kt in [ceil((qlo - 62)/64) .. floor((Skv - 1)/64)]"
                "  if Skv - qlo - 2 >= 0\n",
            "ranges of causal", toString(ranges));
  return good;
}

static bool checkNeverVisible() {
  MaskContext c;
  Linear n = c.operandSymbol(0, "n", true);
  Formula past = causal(-1), future = negate(causal(0));
  bool good =
      check(isNeverVisible(c, allOf({past, future})), "past and future");
  good &= check(isNeverVisible(c, prefix(0)), "no key");
  good &= check(isNeverVisible(c, prefix(n * -1)), "keys below -n");
  good &= check(!isNeverVisible(c, prefix(n)), "keys below n");
  good &= check(isNeverVisible(c, lessEqual(Linear::queryLength(), q)),
                "rows behind Sq");
  good &= check(!isNeverVisible(c, opaque(1, "x")), "an opaque literal");
  KeyRanges ranges = analyzeMask(c, allOf({past, future}), {64, 64});
  good &= check(ranges.form == KeyLoopForm::None, "form none");
  return good;
}

/// An opaque literal whose `may` is too large for the normal form: the fallback
/// must keep every tile.
static bool checkLimits() {
  MaskContext c;
  std::vector<Formula> clauses;
  for (int i = 0; i < 7; ++i)
    clauses.push_back(
        anyOf({isZero(c.modulo(k + Linear(i), 5)),
               isZero(c.modulo(k + q * 2, 7)), lessThan(k, q - Linear(i))}));
  Formula may = allOf(clauses);
  KeyRanges ranges = analyzeMask(c, opaque(0, "x", may), {4, 4});
  bool good = check(ranges.gaveUp, "the clauses do not reach the limit");
  std::vector<int64_t> values(c.numValues(), 0);
  values[Variable::KeyLength] = values[Variable::QueryLength] = 64;
  for (int64_t begin = 0; begin < 64; begin += 4) {
    values[Variable::QueryBegin] = begin;
    values[Variable::QueryEnd] = begin + 4;
    for (int64_t pair = 0; pair < 4 * 64; ++pair) {
      values[Variable::Query] = begin + pair / 64;
      values[Variable::Key] = pair % 64;
      if (c.evaluate(may, values, [](auto...) { return true; }))
        good &= contains(ranges.context, ranges.visit, values, pair % 64 / 4);
    }
  }
  return check(good, "limits");
}

/// Rows [4, 12) touch two chunks of 8: right without rowsInOneTile, and wrong
/// with it, or the option would do nothing.
static bool checkRowOption() {
  MaskContext c;
  Formula formula = chunked(c, 8);
  bool right[2] = {true, true};
  for (bool inOneTile : {false, true}) {
    KeyRanges ranges = analyzeMask(c, formula, {8, 8}, {inOneTile, false});
    std::vector<int64_t> values(c.numValues(), 0);
    values[Variable::QueryBegin] = 4;
    values[Variable::QueryEnd] = 12;
    values[Variable::KeyLength] = values[Variable::QueryLength] = 32;
    for (int64_t kt = 0; kt < 4; ++kt)
      right[inOneTile] &=
          contains(ranges.context, ranges.visit, values, kt) == (kt < 2);
  }
  return check(right[0] && !right[1], "rowsInOneTile");
}

bool test::checkNamedMasks() {
  bool good = checkForms();
  good &= checkTime();
  good &= checkPrinting();
  good &= checkNeverVisible();
  good &= checkRowOption();
  good &= checkLimits();
  return good;
}
