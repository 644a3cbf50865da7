// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TermMask.h"

using namespace attn;
using namespace attn::test;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Numbers and positions
//===----------------------------------------------------------------------===//

int64_t TermMask::draw(int64_t low, int64_t high) {
  if (!extreme || random(0, 1))
    return random(low, high);
  const int64_t most = MaskContext::MaxNumber;
  const int64_t numbers[] = {most,  most - 1, most / 3, int64_t(1) << 31,
                             -most, 1 - most};
  return numbers[random(0, low < 0 ? 5 : 3)];
}

OperandAttr TermMask::operand(int64_t low, int64_t high) {
  limits.push_back({low, high});
  return OperandAttr::get(&c, limits.size() - 1);
}

Attribute TermMask::number(int64_t low, int64_t high) {
  if (random(0, 1))
    return operand(low, high);
  return IntegerAttr::get(IntegerType::get(&c, 64), draw(low, high));
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
      int64_t offset = draw(-6, 12);
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
    int64_t count = draw(1, 12);
    return {SinkAttr::get(&c, count),
            [=](int64_t, int64_t k) { return k < count; }};
  }
  case 4: {
    int64_t size = draw(2, 20);
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
  int64_t queries = draw(3, 20), keys = draw(3, 20), columns = random(1, 4);
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
    int64_t step = draw(2, 12);
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
    scalars.push_back(draw(low, high));
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
    else if (symbol.role == MaskContext::Role::DocumentBegin)
      value = first;
    else if (symbol.role == MaskContext::Role::DocumentEnd)
      value = last;
    else if (symbol.role == MaskContext::Role::DocumentFullEnd)
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
