// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Einsum: sums of products by letters.
//
// Letters of two operands that the result lacks are summed, and what only one
// operand has and the result lacks is summed first. Of the others, those of
// both are a batch, those of one its rows or columns: a product of matrices,
// between a transpose of each operand and of the result.
//
//   bqhd,bkhd->bhqk    (b, h), q, d by (b, h), d, k
//   bsd,dhe->bshe      b, s, d by d, (h, e)
//
// More operands are taken from the left, two at a time.
#include "OperatorTable.h"
#include "Products.h"
#include "Reductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace attn::onnx;

namespace {
struct Term {
  std::string letters; ///< one per dimension
  Tensor tensor;
};
} // namespace

static bool has(StringRef letters, char letter) {
  return letters.contains(letter);
}

/// The dimensions of `term` in the order of `letters`.
static Tensor ordered(TensorBuilder &t, Term &term, StringRef letters) {
  SmallVector<int64_t> order;
  for (char letter : letters)
    order.push_back(static_cast<int64_t>(term.letters.find(letter)));
  return llvm::is_sorted(order) ? term.tensor : t.transpose(term.tensor, order);
}

/// Without the letters that are not in `kept`.
static Term summed(TensorBuilder &t, Term term, StringRef kept) {
  SmallVector<int64_t> axes;
  Term result;
  Shape shape;
  for (auto [i, letter] : llvm::enumerate(term.letters)) {
    if (!has(kept, letter)) {
      axes.push_back(static_cast<int64_t>(i));
      continue;
    }
    result.letters.push_back(letter);
    shape.push_back(term.tensor.shape[i]);
  }
  if (axes.empty())
    return term;
  Tensor x = wide(t, term.tensor);
  Tensor sums = sumOf(t, x, axes);
  Tensor same = t.cast(sums, term.tensor.element);
  result.tensor = *t.reshaped(same, shape);
  return result;
}

/// `term` with a size of 1 where it lacks a letter of `letters`.
static std::optional<Tensor> spread(TensorBuilder &t, Term &term,
                                    StringRef letters) {
  std::string own;
  for (char letter : letters)
    if (has(term.letters, letter))
      own.push_back(letter);
  Tensor x = ordered(t, term, own);
  Shape shape;
  for (char letter : letters)
    shape.push_back(has(own, letter) ? x.shape[own.find(letter)] : Size(1));
  return t.reshaped(x, shape);
}

/// Nothing is summed: every element is one product.
static std::optional<Tensor> elementProducts(TensorBuilder &t, Term &a, Term &b,
                                             StringRef letters) {
  std::optional<Tensor> left = spread(t, a, letters),
                        right = spread(t, b, letters);
  std::optional<Shape> shape =
      left && right ? broadcastShape(left->shape, right->shape) : std::nullopt;
  if (!shape)
    return std::nullopt;
  Value x = t.broadcast(*left, *shape), y = t.broadcast(*right, *shape);
  return t.elementwise<arith::MulFOp>({x, y}, *shape);
}

namespace {
/// Letters by what they are to a product of matrices.
struct Roles {
  std::string batch, rows, columns, depth;

  Roles(StringRef a, StringRef b, StringRef result) {
    for (char letter : result)
      (has(a, letter) ? has(b, letter) ? batch : rows : columns)
          .push_back(letter);
    for (char letter : a)
      if (!has(result, letter))
        depth.push_back(letter);
  }
};
} // namespace

/// The sizes of the letters in `term`.
static Shape sizesOf(const Term &term, StringRef letters) {
  Shape sizes;
  for (char letter : letters)
    sizes.push_back(term.tensor.shape[term.letters.find(letter)]);
  return sizes;
}

/// The product of two terms, with the letters `result`; none: sizes that do not
/// fit.
static std::optional<Term> multiply(TensorBuilder &t, Term a, Term b,
                                    StringRef result) {
  a = summed(t, a, b.letters + result.str());
  b = summed(t, b, a.letters + result.str());
  Roles roles(a.letters, b.letters, result);
  if (roles.depth.empty()) {
    std::optional<Tensor> y = elementProducts(t, a, b, result);
    return y ? std::optional(Term{result.str(), *y}) : std::nullopt;
  }
  Shape batch = sizesOf(a, roles.batch), rows = sizesOf(a, roles.rows),
        columns = sizesOf(b, roles.columns), depth = sizesOf(a, roles.depth);
  Tensor left = ordered(t, a, roles.batch + roles.rows + roles.depth),
         right = ordered(t, b, roles.batch + roles.depth + roles.columns);
  // One matrix for all rows, however many dimensions these have.
  bool keepsRows = batch.empty() && !rows.empty();
  Shape leftShape = batch, rightShape = sizesOf(b, roles.batch);
  if (keepsRows)
    llvm::append_range(leftShape, rows);
  else
    leftShape.push_back(product(rows));
  leftShape.push_back(product(depth));
  rightShape.push_back(product(sizesOf(b, roles.depth)));
  rightShape.push_back(product(columns));
  std::optional<Tensor> x = t.reshaped(left, leftShape),
                        w = t.reshaped(right, rightShape);
  std::optional<Tensor> y = x && w ? matmul(t, *x, *w) : std::nullopt;
  if (!y)
    return std::nullopt;
  Shape shape(y->shape.begin(), y->shape.begin() + batch.size());
  llvm::append_range(shape, rows);
  llvm::append_range(shape, columns);
  std::optional<Tensor> apart = t.reshaped(*y, shape);
  if (!apart)
    return std::nullopt;
  return Term{roles.batch + roles.rows + roles.columns, *apart};
}

//===----------------------------------------------------------------------===//
// The equation
//===----------------------------------------------------------------------===//

namespace {
struct Equation {
  std::vector<Term> terms;
  std::string result;
};
} // namespace

/// The letters of one side; "..." stands for `dots` dimensions, which are the
/// digits that ONNX's letters cannot be.
static std::optional<std::string> lettersOf(StringRef text, int64_t dots) {
  std::string letters;
  auto [before, after] = text.split("...");
  if (text.contains("..."))
    for (int64_t i = 0; i < dots; ++i)
      letters.push_back(static_cast<char>('0' + i));
  letters = before.str() + letters + after.str();
  for (size_t i = 0; i < letters.size(); ++i)
    if (!llvm::isAlnum(letters[i]) || letters.find(letters[i]) != i)
      return std::nullopt; // a diagonal, or no letter
  return letters;
}

static FailureOr<Equation> parse(Node &node) {
  std::string text = node.getString("equation", "");
  llvm::erase(text, ' ');
  auto unsupported = [&] {
    return node.fail("the equation '" + text +
                     "' is not supported: it expects different letters in each "
                     "operand, as many as it has dimensions");
  };
  auto [left, right] = StringRef(text).split("->");
  SmallVector<StringRef> sides;
  left.split(sides, ',');
  if (llvm::any_of(text, llvm::isDigit) || sides.size() != node.inputs())
    return unsupported();
  Equation equation;
  std::optional<int64_t> dots;
  llvm::StringMap<unsigned> count;
  for (auto [i, side] : llvm::enumerate(sides)) {
    Tensor &x = node.input(i);
    int64_t given = x.rank();
    if (side.contains("...")) {
      given -= static_cast<int64_t>(side.size()) - 3;
      if (given < 0 || given > 8 || (dots && dots != given))
        return unsupported();
      dots = given;
    }
    std::optional<std::string> letters = lettersOf(side, given);
    if (!letters || static_cast<int64_t>(letters->size()) != x.rank() ||
        x.element != node.input(0).element || x.element.isInteger(1))
      return unsupported();
    for (char letter : *letters)
      ++count[StringRef(&letter, 1)];
    equation.terms.push_back({*letters, x});
  }
  std::optional<std::string> result = lettersOf(right, dots.value_or(0));
  if (!text.empty() && !StringRef(text).contains("->")) {
    // Letters that stand once, in alphabetical order.
    result.emplace();
    for (auto &entry : count)
      if (entry.second == 1 || llvm::isDigit(entry.first()[0]))
        result->append(entry.first().str());
    llvm::sort(*result);
  }
  if (!result || llvm::any_of(*result, [&](char letter) {
        return !count.contains(StringRef(&letter, 1));
      }))
    return unsupported();
  equation.result = *result;
  return equation;
}

/// Known sizes of one letter are equal.
static LogicalResult checkSizes(Node &node, ArrayRef<Term> terms) {
  llvm::StringMap<Size> sizes;
  for (const Term &term : terms)
    for (size_t i = 0; i < term.letters.size(); ++i) {
      const Size &own = term.tensor.shape[i];
      auto [known, isNew] =
          sizes.try_emplace(StringRef(term.letters).substr(i, 1), own);
      if (known->second.constant() && own.constant() && known->second != own)
        return node.fail("expects one size for each letter, but got " +
                         Twine(*known->second.constant()) + " and " +
                         Twine(*own.constant()) + " for one");
      if (!known->second.constant())
        known->second = own;
    }
  return success();
}

static LogicalResult importEinsum(Node &node) {
  TensorBuilder &t = node.build();
  for (unsigned i = 0; i < node.inputs(); ++i) {
    if (!node.hasInput(i))
      return node.fail("expects inputs that are there");
    if (node.inputs() > 1 && failed(node.expectFloats(i)))
      return failure();
  }
  FailureOr<Equation> equation = parse(node);
  if (failed(equation) || failed(checkSizes(node, equation->terms)))
    return failure();
  Term all = equation->terms.front();
  auto rest = ArrayRef(equation->terms).drop_front();
  while (!rest.empty()) {
    // Letters that are needed later stay.
    std::string later = equation->result, kept;
    for (const Term &term : rest.drop_front())
      later += term.letters;
    for (char letter : all.letters + rest.front().letters)
      if (has(later, letter) && !has(kept, letter))
        kept.push_back(letter);
    bool isLast = rest.size() == 1;
    std::optional<Term> next =
        multiply(t, all, rest.front(), isLast ? equation->result : kept);
    if (!next)
      return node.fail("expects inputs that fit each other, but got " +
                       describe(all.tensor) + " and " +
                       describe(rest.front().tensor));
    all = *next;
    rest = rest.drop_front();
  }
  all = summed(t, all, equation->result);
  return node.give(ordered(t, all, equation->result));
}

ArrayRef<Operator> attn::onnx::einsumOperators() {
  static const Operator all[] = {
      {"", "Einsum", importEinsum, 1, anyNumber, /*since=*/12},
  };
  return all;
}
