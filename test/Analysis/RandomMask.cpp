// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks for the test of the analysis.

#include "RandomMask.h"
#include <algorithm>

using namespace attn;
using namespace attn::test;

Formula test::causal(const Linear &offset) { return lessEqual(k, q + offset); }

Formula test::window(const Linear &left, const Linear &right) {
  return allOf({lessEqual(q - left, k), lessEqual(k, q + right)});
}

Formula test::prefix(const Linear &count) { return lessThan(k, count); }

Formula test::chunked(MaskContext &context, int64_t size) {
  return isZero(context.floorDivide(q, size) - context.floorDivide(k, size));
}

Formula test::dilated(MaskContext &context, int64_t step) {
  return isZero(context.modulo(q - k, step));
}

int Documents::of(int64_t query) const {
  int document = 0;
  while (document + 2 < int(queries.size()) && query >= queries[document + 1])
    ++document;
  return document;
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

RandomMask::RandomMask(Random &random, MaskClass maskClass, int depth)
    : random(random), constantsOnly(random(0, 1)) {
  const int64_t queryTiles[] = {4, 8, 16, 1, 6}, keyTiles[] = {4, 8, 16, 5, 6};
  const bool odd = random(0, 3) == 0; // decode, tiles that are no power of two
  tiles.query = queryTiles[random(odd ? 3 : 0, odd ? 4 : 2)];
  tiles.key = keyTiles[random(odd ? 3 : 0, odd ? 4 : 2)];
  options.rowsInOneTile = random(0, 4) != 0;
  options.ignoreRaggedTail = random(0, 3) == 0;
  if (maskClass != MaskClass::Different)
    depth = 1 + random(depth > 1 ? 1 : 0, depth - 1);
  Pair tree = randomTree(maskClass, depth);
  formula = tree.formula;
  perDocument = tree.perDocument;
}

/// A number, or a scalar operand that draws its value for each shape.
Linear RandomMask::parameter(const char *name, int64_t low, int64_t high) {
  if (constantsOnly)
    return Linear(random(low, high));
  Linear symbol = context.operandSymbol(numOperands++, name, low >= 0);
  int variable = symbol.terms.begin()->first;
  draws.push_back([=] { values[variable] = random(low, high); });
  return symbol;
}

RandomMask::Pair RandomMask::documentTerm() {
  if (!hasDocuments) {
    hasDocuments = true;
    firstDocumentSymbol = context.numValues();
    Linear begin = context.freeSymbol("first_begin", true);
    Linear end = context.freeSymbol("first_end", true);
    Linear lastBegin = context.freeSymbol("last_begin", true);
    Linear lastEnd = context.freeSymbol("last_end", true);
    for (const Linear &fact :
         {end - begin, lastEnd - lastBegin, lastBegin - begin, lastEnd - end})
      context.addFact(fact);
  }
  auto symbol = [&](int index) {
    return Linear::variable(firstDocumentSymbol + index);
  };
  Formula may = allOf({lessEqual(symbol(0), k), lessThan(k, symbol(3))});
  Formula mayNot = anyOf({lessThan(k, symbol(2)), lessEqual(symbol(1), k)});
  return {opaque(1000, "document", may, mayNot),
          allOf({lessEqual(symbol(0), k), lessThan(k, symbol(1))})};
}

RandomMask::Pair RandomMask::randomTerm(bool different) {
  auto both = [](const Formula &formula) { return Pair{formula, formula}; };
  int64_t kind = random(0, different ? 5 : 6);
  while (different && (termsUsed >> kind & 1))
    kind = random(0, 5);
  termsUsed |= 1 << kind;
  switch (kind) {
  case 0:
    if (random(0, 2) == 0) // bottom right
      return both(causal(Linear::keyLength() - Linear::queryLength()));
    return both(causal(parameter("offset", -6, 12)));
  case 1: {
    Linear left = parameter("left", 0, 20);
    return both(window(left, parameter("right", 0, 12)));
  }
  case 2:
  case 3:
    return both(prefix(parameter("n", 0, 50)));
  case 4:
    return both(chunked(context, random(2, 20)));
  case 5:
    return documentTerm();
  default:
    return both(dilated(context, random(2, 24)));
  }
}

/// A random index expression.
Linear RandomMask::randomIndex(int depth) {
  // One draw per statement: compilers differ in the order of operands.
  Linear index = q * random(-2, 2);
  index += k * random(-2, 2);
  index += Linear(random(-10, 10));
  if (depth && random(0, 2) == 0) {
    int64_t divisor = random(2, 9);
    Linear quotient = context.floorDivide(randomIndex(depth - 1), divisor);
    return quotient + index * random(0, 1);
  }
  if (depth && random(0, 2) == 0) {
    int64_t divisor = random(2, 9);
    Linear remainder = context.modulo(randomIndex(depth - 1), divisor);
    return remainder + Linear(random(-9, 0));
  }
  return random(0, 2) == 0 ? index + parameter("p", -8, 30) : index;
}

RandomMask::Pair RandomMask::randomPredicate() {
  auto block = [&](const Linear &index) {
    int64_t shift = random(0, 1) ? random(-9, 9) : 0;
    int64_t divisor = int64_t(1) << random(1, 4);
    Linear quotient = context.floorDivide(index + Linear(shift), divisor);
    return quotient * random(1, 2);
  };
  Linear index;
  if (random(0, 3)) {
    index = randomIndex(1);
  } else { // block numbers compared
    index = block(q);
    index -= block(k);
    index += Linear(random(-1, 1));
  }
  if (random(0, 1))
    index = index * -1;
  Formula formula = random(0, 5) ? isNonNegative(index) : isZero(index);
  return {formula, formula};
}

RandomMask::Pair RandomMask::binary(bool isAnd, const Pair &a, const Pair &b) {
  auto combine = [&](const Formula &x, const Formula &y) {
    return isAnd ? allOf({x, y}) : anyOf({x, y});
  };
  return {combine(a.formula, b.formula), combine(a.perDocument, b.perDocument)};
}

RandomMask::Pair RandomMask::randomTree(MaskClass maskClass, int depth) {
  if (maskClass == MaskClass::Different) {
    Pair result = randomTerm(/*different=*/true);
    for (int i = 0; i < depth; ++i)
      result = binary(true, result, randomTerm(/*different=*/true));
    return result;
  }
  if (depth == 0 || random(0, 5) == 0)
    return maskClass == MaskClass::Predicates ? randomPredicate()
                                              : randomTerm(false);
  int64_t operation = 0;
  if (maskClass != MaskClass::And)
    operation = random(0, maskClass == MaskClass::AndOr ? 1 : 2);
  Pair left = randomTree(maskClass, depth - 1);
  if (operation == 2)
    return {negate(left.formula), negate(left.perDocument)};
  return binary(operation == 0, left, randomTree(maskClass, depth - 1));
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

void RandomMask::drawShape() {
  numQueries = random(1, 48);
  numKeys = random(0, 48);
  values.assign(context.numValues(), 0);
  values[Variable::QueryLength] = numQueries;
  values[Variable::KeyLength] = numKeys;
  for (auto &draw : draws)
    draw();
  int64_t count = random(1, 5);
  auto borders = [&](int64_t length) {
    std::vector<int64_t> result{0, length};
    for (int64_t i = 1; i < count; ++i)
      result.push_back(random(0, length));
    std::sort(result.begin(), result.end());
    return result;
  };
  documents.queries = borders(numQueries);
  documents.keys = borders(numKeys);
  if (numQueries == numKeys || (numQueries < numKeys && random(0, 1))) {
    documents.keys = documents.queries; // self attention
    documents.keys.back() = numKeys;
  }
}

void RandomMask::setRows(int64_t begin, int64_t end) {
  values[Variable::QueryBegin] = begin;
  values[Variable::QueryEnd] = end;
  if (!hasDocuments)
    return;
  int first = documents.of(begin), last = documents.of(end - 1);
  int64_t *symbols = &values[firstDocumentSymbol];
  symbols[0] = documents.keys[first];
  symbols[1] = documents.keys[first + 1];
  symbols[2] = documents.keys[last];
  symbols[3] = documents.keys[last + 1];
}

std::vector<std::pair<int64_t, int64_t>> RandomMask::rowTiles() {
  std::vector<std::pair<int64_t, int64_t>> result;
  for (int64_t begin = 0; begin < numQueries;) {
    int64_t rows = options.rowsInOneTile ? tiles.query : random(1, tiles.query);
    int64_t end = std::min(begin + rows, numQueries);
    result.push_back({begin, end});
    begin = end;
  }
  return result;
}

std::vector<std::pair<int64_t, int64_t>>
RandomMask::cutRows(int64_t begin, int64_t end) const {
  if (!hasDocuments)
    return {{begin, end}};
  std::vector<std::pair<int64_t, int64_t>> result;
  while (begin < end) {
    int64_t border = documents.queries[documents.of(begin) + 1];
    border = border <= begin ? end : std::min(border, end);
    result.push_back({begin, border});
    begin = border;
  }
  return result;
}

bool RandomMask::sameDocument(int64_t query, int64_t key) const {
  int document = documents.of(query);
  return key >= documents.keys[document] && key < documents.keys[document + 1];
}

bool RandomMask::sees(int64_t query, int64_t key) {
  values[Variable::Query] = query;
  values[Variable::Key] = key;
  return context.evaluate(formula, values, [&](unsigned, int64_t q, int64_t k) {
    return sameDocument(q, k);
  });
}
