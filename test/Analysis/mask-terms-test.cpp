// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random masks of all terms against their definitions.
//
// Unlike mask-bounds-test, which makes formulas itself, this takes them from
// the dialect's attributes. Each mask is analyzed, and on random small shapes
// every key tile is compared with what the definition of docs/Spec.md gives.
// Conjunctions of causal, window, prefix, sink, key_length, chunked and
// document (rows cut at document borders) must be exact, and so must documents
// with positions in them; all others sound.
//
//   mask-terms [masks per class = 60] [seed = 1]

#include "RandomMask.h"
#include "attn/Dialect/Attn/IR/MaskTerms.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>

using namespace attn;
using namespace attn::test;
using namespace mlir;

namespace {
using Sees = std::function<bool(int64_t q, int64_t k)>;

/// A term with its definition. Both refer to the shape that is current.
struct Term {
  Attribute attribute;
  Sees sees;
};

struct Shape {
  int64_t queries = 0, keys = 0, live = 0;
};

class TermMask {
public:
  TermMask(MLIRContext &context, Random &random) : c(context), random(random) {}

  Term exactTerm(int kind);
  /// One with a position in the query's document.
  Term termInDocument(int kind);
  Term documentTerm();
  Term anyTerm();
  Term tree(int depth);
  void drawShape();
  /// Values of the symbols of `context` for the rows [begin, end).
  std::vector<int64_t> valuesFor(const MaskContext &context, int64_t begin,
                                 int64_t end) const;
  /// [begin, end) in pieces of one document each, if there are documents.
  std::vector<std::pair<int64_t, int64_t>> pieces(int64_t begin,
                                                  int64_t end) const;

  Shape shape;
  bool hasDocuments = false;
  int64_t lengthOperand = -1; ///< of the key_length, if there is one

private:
  Attribute number(int64_t low, int64_t high);
  int64_t valueOf(Attribute number) const;
  PositionAttr position();
  int64_t standsOn(PositionAttr position, int64_t q) const;
  OperandAttr operand(int64_t low, int64_t high);
  Term blockTerm(bool ofOperand);
  Term treeTerm();
  /// Numbers that are the same for all rows of a document.
  enum OfDocument { ToFirstKey, ToEndKey, FirstKey };
  OperandAttr documentOperand(OfDocument what);
  int64_t ofDocument(OfDocument what, int64_t q) const;

  MLIRContext &c;
  Random &random;
  std::vector<std::pair<int64_t, int64_t>> limits; ///< of each operand
  std::vector<int64_t> scalars;                    ///< value of each operand
  std::vector<int64_t> queryNumbers, keyNumbers;   ///< of documents
  std::map<unsigned, OfDocument> documentOperands;
};
} // namespace

//===----------------------------------------------------------------------===//
// Numbers and positions
//===----------------------------------------------------------------------===//

OperandAttr TermMask::operand(int64_t low, int64_t high) {
  limits.push_back({low, high});
  return OperandAttr::get(&c, limits.size() - 1);
}

Attribute TermMask::number(int64_t low, int64_t high) {
  if (random(0, 1))
    return operand(low, high);
  return IntegerAttr::get(IntegerType::get(&c, 64), random(low, high));
}

int64_t TermMask::valueOf(Attribute number) const {
  if (auto operand = dyn_cast<OperandAttr>(number))
    return scalars[operand.getPosition()];
  return cast<IntegerAttr>(number).getInt();
}

PositionAttr TermMask::position() {
  switch (random(0, 3)) {
  case 0:
    return PositionAttr::get(&c, Alignment::BottomRight, {});
  case 1:
    return PositionAttr::get(&c, Alignment::Offset, number(-6, 12));
  default:
    return {};
  }
}

int64_t TermMask::standsOn(PositionAttr position, int64_t q) const {
  if (!position)
    return q;
  if (position.getAlignment() == Alignment::BottomRight)
    return q + shape.live - shape.queries;
  return q + valueOf(position.getOffset());
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

static int64_t floorOf(int64_t a, int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

/// Those that must be exact under `and`.
Term TermMask::exactTerm(int kind) {
  switch (kind) {
  case 0: {
    PositionAttr at = position();
    bool bottom = at && at.getAlignment() == Alignment::BottomRight;
    if (at && !bottom) {
      int64_t offset = random(-6, 12);
      return {CausalAttr::get(&c, Alignment::Offset, offset, -1),
              [=](int64_t q, int64_t k) { return k <= q + offset; }};
    }
    return {
        CausalAttr::get(
            &c, bottom ? Alignment::BottomRight : Alignment::TopLeft, 0, -1),
        [=](int64_t q, int64_t k) { return k <= standsOn(at, q); }};
  }
  case 1: {
    int64_t sides = random(1, 3);
    Attribute left = sides & 1 ? number(0, 20) : Attribute();
    Attribute right = sides & 2 ? number(0, 12) : Attribute();
    PositionAttr at = position();
    return {WindowAttr::get(&c, left, right, at), [=](int64_t q, int64_t k) {
              int64_t own = standsOn(at, q);
              return (!left || own - valueOf(left) <= k) &&
                     (!right || k <= own + valueOf(right));
            }};
  }
  case 2: {
    Attribute count = number(0, 50);
    return {PrefixAttr::get(&c, count),
            [=](int64_t, int64_t k) { return k < valueOf(count); }};
  }
  case 3: {
    int64_t count = random(1, 12);
    return {SinkAttr::get(&c, count),
            [=](int64_t, int64_t k) { return k < count; }};
  }
  case 4: {
    int64_t size = random(2, 20);
    PositionAttr at = random(0, 1) ? position() : PositionAttr();
    return {ChunkedAttr::get(&c, size, at), [=](int64_t q, int64_t k) {
              return floorOf(standsOn(at, q), size) == k / size;
            }};
  }
  case 5:
    return documentTerm();
  default:
    lengthOperand = operand(0, 50).getPosition();
    return {KeyLengthAttr::get(&c, lengthOperand),
            [=](int64_t, int64_t k) { return k < scalars[lengthOperand]; }};
  }
}

OperandAttr TermMask::documentOperand(OfDocument what) {
  OperandAttr made = operand(0, 0);
  documentOperands[made.getPosition()] = what;
  return made;
}

int64_t TermMask::ofDocument(OfDocument what, int64_t q) const {
  auto first = [&](const std::vector<int64_t> &numbers) {
    return llvm::lower_bound(numbers, queryNumbers[q]) - numbers.begin();
  };
  auto end = [&](const std::vector<int64_t> &numbers) {
    return llvm::upper_bound(numbers, queryNumbers[q]) - numbers.begin();
  };
  if (what == ToEndKey)
    return end(keyNumbers) - end(queryNumbers);
  return first(keyNumbers) - (what == FirstKey ? 0 : first(queryNumbers));
}

/// As attn-tile-queries leaves them: an offset per document.
Term TermMask::termInDocument(int kind) {
  OfDocument to = random(0, 1) ? ToEndKey : ToFirstKey;
  OperandAttr offset = documentOperand(to);
  auto at = PositionAttr::get(&c, Alignment::Offset, offset);
  auto own = [=](int64_t q) { return q + ofDocument(to, q); };
  if (kind == 0)
    return {CausalAttr::get(&c, Alignment::Offset, 0, offset.getPosition()),
            [=](int64_t q, int64_t k) { return k <= own(q); }};
  if (kind == 1) {
    Attribute left = number(0, 20), right = number(0, 12);
    return {WindowAttr::get(&c, left, right, at), [=](int64_t q, int64_t k) {
              return own(q) - valueOf(left) <= k &&
                     k <= own(q) + valueOf(right);
            }};
  }
  int64_t size = random(2, 20);
  return {ChunkedAttr::get(&c, size, at, documentOperand(FirstKey)),
          [=](int64_t q, int64_t k) {
            int64_t origin = ofDocument(FirstKey, q);
            return floorOf(own(q) - origin, size) == floorOf(k - origin, size);
          }};
}

Term TermMask::documentTerm() {
  hasDocuments = true;
  auto numbers = OperandAttr::get(&c, 0); // never read as a symbol
  return {
      DocumentAttr::get(&c, numbers, numbers, /*cumulative=*/false, {}),
      [=](int64_t q, int64_t k) { return queryNumbers[q] == keyNumbers[k]; }};
}

Term TermMask::blockTerm(bool ofOperand) {
  int64_t queries = random(3, 20), keys = random(3, 20), columns = random(1, 4);
  SmallVector<bool> bits;
  for (int64_t i = columns * random(1, 4); i; --i)
    bits.push_back(random(0, 1));
  Attribute attribute =
      ofOperand
          ? BlockAttr::get(&c, queries, keys, {}, 0, OperandAttr::get(&c, 0))
          : BlockAttr::get(&c, queries, keys, DenseBoolArrayAttr::get(&c, bits),
                           columns, {});
  return {attribute, [=](int64_t q, int64_t k) {
            int64_t row = q / queries, column = k / keys;
            return column < columns &&
                   row * columns < static_cast<int64_t>(bits.size()) &&
                   bits[row * columns + column];
          }};
}

Term TermMask::treeTerm() {
  int64_t tokens = random(1, 12);
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < tokens; ++i)
    rows.push_back(random(0, (1 << tokens) - 1));
  return {TreeAttr::get(&c, tokens, OperandAttr::get(&c, 0)),
          [=](int64_t q, int64_t k) {
            int64_t draft = q - shape.queries + tokens;
            int64_t bit = k - shape.live + tokens;
            return bit < 0 ||
                   (draft >= 0 && bit < tokens && (rows[draft] >> bit & 1));
          }};
}

Term TermMask::anyTerm() {
  int64_t kind = random(0, 9);
  if (kind < 6)
    return exactTerm(kind);
  if (kind == 6) {
    int64_t step = random(2, 12);
    PositionAttr at = position();
    return {DilatedAttr::get(&c, step, at), [=](int64_t q, int64_t k) {
              return (standsOn(at, q) - k) % step == 0;
            }};
  }
  return kind == 9 ? treeTerm() : blockTerm(/*ofOperand=*/kind == 8);
}

Term TermMask::tree(int depth) {
  if (depth == 0 || random(0, 5) == 0)
    return anyTerm();
  Term a = tree(depth - 1);
  int64_t operation = random(0, 2);
  if (operation == 2)
    return {NotAttr::get(&c, a.attribute),
            [=](int64_t q, int64_t k) { return !a.sees(q, k); }};
  Term b = tree(depth - 1);
  Attribute terms[] = {a.attribute, b.attribute};
  if (operation)
    return {AnyOfAttr::get(&c, terms),
            [=](int64_t q, int64_t k) { return a.sees(q, k) || b.sees(q, k); }};
  return {AllOfAttr::get(&c, terms),
          [=](int64_t q, int64_t k) { return a.sees(q, k) && b.sees(q, k); }};
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

void TermMask::drawShape() {
  shape.queries = random(1, 48);
  shape.keys = random(0, 48);
  scalars.clear();
  for (auto [low, high] : limits)
    scalars.push_back(random(low, high));
  shape.live = lengthOperand < 0 ? shape.keys : scalars[lengthOperand];
  auto numbers = [&](int64_t count) {
    std::vector<int64_t> result;
    for (int64_t i = 0, number = 0; i < count; ++i)
      result.push_back(number += random(0, 7) == 0);
    return result;
  };
  queryNumbers = numbers(shape.queries);
  keyNumbers = numbers(shape.keys);
}

std::vector<int64_t> TermMask::valuesFor(const MaskContext &context,
                                         int64_t begin, int64_t end) const {
  std::vector<int64_t> values(context.numValues(), 0);
  values[Variable::QueryBegin] = begin;
  values[Variable::QueryEnd] = end;
  values[Variable::QueryLength] = shape.queries;
  values[Variable::KeyLength] = shape.keys;
  // As attn-tile-queries finds them.
  int64_t first = shape.keys, last = 0, count = 0;
  int64_t least = queryNumbers[begin], most = queryNumbers[end - 1];
  for (int64_t k = 0; k < shape.keys; ++k)
    if (least <= keyNumbers[k] && keyNumbers[k] <= most) {
      first = std::min(first, k);
      last = k + 1;
      ++count;
    }
  first = std::min(first, last);
  bool full = least == most && count == last - first;
  for (auto [i, symbol] : llvm::enumerate(context.symbols())) {
    int64_t &value = values[Variable::FirstSymbol + i];
    if (auto found = documentOperands.find(symbol.operand);
        symbol.kind == MaskContext::SymbolKind::Operand &&
        found != documentOperands.end())
      value = ofDocument(found->second, begin);
    else if (symbol.kind == MaskContext::SymbolKind::Operand)
      value = scalars[symbol.operand];
    else if (symbol.name == "document_begin")
      value = first;
    else if (symbol.name == "document_end")
      value = last;
    else if (symbol.name == "document_full_end")
      value = full ? last : first;
  }
  return values;
}

std::vector<std::pair<int64_t, int64_t>> TermMask::pieces(int64_t begin,
                                                          int64_t end) const {
  std::vector<std::pair<int64_t, int64_t>> result;
  for (int64_t at = begin; at < end;) {
    int64_t next = at + 1;
    while (next < end &&
           (!hasDocuments || queryNumbers[next] == queryNumbers[at]))
      ++next;
    result.push_back({at, next});
    at = next;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

namespace {
struct Score {
  long masks = 0, tiles = 0, visible = 0, full = 0;
  long unsound = 0, wrongFormulas = 0, emptyVisited = 0, fullMissed = 0;
  double milliseconds = 0, worst = 0;
};
} // namespace

static bool hasOpaque(const Formula &formula) {
  return formula->kind == FormulaKind::Opaque ||
         llvm::any_of(formula->children, hasOpaque);
}

static void checkTile(const TermMask &mask, const Term &term,
                      const KeyRanges &ranges, int64_t begin, int64_t end,
                      bool cut, Score &score) {
  auto pieces = cut ? mask.pieces(begin, end)
                    : std::vector<std::pair<int64_t, int64_t>>{{begin, end}};
  for (int64_t kt = 0; kt * ranges.tiles.key < mask.shape.keys; ++kt) {
    bool some = false, all = true, visited = false, hole = false;
    int64_t last = std::min((kt + 1) * ranges.tiles.key, mask.shape.keys);
    for (int64_t q = begin; q < end; ++q)
      for (int64_t k = kt * ranges.tiles.key; k < last; ++k) {
        some |= term.sees(q, k);
        all &= term.sees(q, k);
      }
    for (auto [first, next] : pieces) {
      std::vector<int64_t> values = mask.valuesFor(ranges.context, first, next);
      visited |= contains(ranges.context, ranges.visit, values, kt);
      hole |= contains(ranges.context, ranges.notFull, values, kt);
    }
    ++score.tiles;
    score.visible += some;
    score.full += all;
    score.unsound += (some && !visited) || (visited && !hole && !all);
    score.emptyVisited += visited && !some;
    score.fullMissed += all && hole;
  }
}

static void checkFormula(const TermMask &mask, const Term &term,
                         const MaskContext &context, const Formula &formula,
                         Random &random, Score &score) {
  if (hasOpaque(formula) || !mask.shape.keys)
    return;
  for (int i = 0; i < 10; ++i) {
    int64_t q = random(0, mask.shape.queries - 1);
    int64_t k = random(0, mask.shape.keys - 1);
    std::vector<int64_t> values = mask.valuesFor(context, q, q + 1);
    values[Variable::Query] = q;
    values[Variable::Key] = k;
    bool found = context.evaluate(formula, values,
                                  [](unsigned, int64_t, int64_t) -> bool {
                                    llvm_unreachable("no opaque literal");
                                  });
    score.wrongFormulas += found != term.sees(q, k);
  }
}

static Term conjunction(MLIRContext &mlir, const std::vector<Term> &parts) {
  SmallVector<Attribute> all;
  for (const Term &part : parts)
    all.push_back(part.attribute);
  return {AllOfAttr::get(&mlir, all), [=](int64_t q, int64_t k) {
            return llvm::all_of(parts,
                                [&](const Term &t) { return t.sees(q, k); });
          }};
}

/// An `and` of `count` different exact terms, or of a document and `count`
/// terms with positions in it.
static Term exactMask(TermMask &mask, MLIRContext &mlir, Random &random,
                      int count, bool inDocument) {
  std::vector<Term> parts;
  if (inDocument)
    parts.push_back(mask.documentTerm());
  int last = inDocument ? 2 : 6;
  for (int i = 0, used = 0; i < count; ++i) {
    int kind = random(0, last);
    while (used >> kind & 1)
      kind = random(0, last);
    used |= 1 << kind;
    parts.push_back(inDocument ? mask.termInDocument(kind)
                               : mask.exactTerm(kind));
  }
  return conjunction(mlir, parts);
}

/// One mask on several shapes. `terms` > 0: an `and` of so many exact terms.
static void checkMask(MLIRContext &mlir, Random &random, int terms, int depth,
                      bool inDocument, Score &score) {
  using Clock = std::chrono::steady_clock;
  TermMask mask(mlir, random);
  Term term = terms ? exactMask(mask, mlir, random, terms, inDocument)
                    : mask.tree(depth);
  const int64_t sizes[] = {4, 8, 16};
  TileSizes tiles{sizes[random(0, 2)], sizes[random(0, 2)]};
  Clock::time_point start = Clock::now();
  MaskContext context;
  Formula formula = maskFormula(context, term.attribute);
  BoundsOptions options;
  options.ignoreRaggedTail = true;
  KeyRanges ranges = analyzeMask(context, formula, tiles, options);
  double time =
      std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  score.milliseconds += time;
  score.worst = std::max(score.worst, time);
  ++score.masks;
  for (int i = 0; i < 8; ++i) {
    mask.drawShape();
    for (int64_t begin = 0; begin < mask.shape.queries; begin += tiles.query)
      checkTile(mask, term, ranges, begin,
                std::min(begin + tiles.query, mask.shape.queries),
                /*cut=*/terms > 0, score);
    checkFormula(mask, term, context, formula, random, score);
  }
}

int main(int argc, char **argv) {
  int count = argc > 1 ? std::atoi(argv[1]) : 60;
  Random random{std::mt19937(argc > 2 ? std::atoi(argv[2]) : 1)};
  MLIRContext mlir;
  mlir.loadDialect<AttnDialect>();
  bool good = true;
  auto run = [&](const char *name, int terms, int depth,
                 bool inDocument = false) {
    Score score;
    for (int i = 0; i < count; ++i)
      checkMask(mlir, random, terms, depth, inDocument, score);
    bool exact = !score.emptyVisited && !score.fullMissed;
    bool passed =
        !score.unsound && !score.wrongFormulas && (terms == 0 || exact);
    good &= passed;
    std::printf("%s %s %d: %ld masks, %ld tiles (%ld visible, %ld full), "
                "%.2f ms mean, %.1f worst; unsound %ld, wrong formulas %ld, "
                "empty visited %ld, full missed %ld\n",
                passed ? "ok    " : "FAILED", name, terms ? terms : depth,
                score.masks, score.tiles, score.visible, score.full,
                score.milliseconds / score.masks, score.worst, score.unsound,
                score.wrongFormulas, score.emptyVisited, score.fullMissed);
  };
  for (int terms = 1; terms <= 5; ++terms)
    run("and of terms", terms, 0);
  for (int terms = 1; terms <= 3; ++terms)
    run("and of a document and terms in it", terms, 0, /*inDocument=*/true);
  for (int depth = 1; depth <= 4; ++depth)
    run("and, or, not of all terms, depth", 0, depth);
  std::printf("%s\n", good ? "passed" : "FAILED");
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
