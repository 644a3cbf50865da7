// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RotatedPairs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

/// Ops that are looked through, one behind the other.
static constexpr unsigned maxSteps = 24;

int64_t attn::featuresOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() > 0 ? type.getShape().back()
                                    : ShapedType::kDynamic;
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

/// The two parts of a concat along the last dimension, of one size.
static std::optional<std::array<Value, 2>> partsOf(Value value) {
  auto concat = value.getDefiningOp<tensor::ConcatOp>();
  if (!concat || concat.getInputs().size() != 2)
    return std::nullopt;
  Value first = concat.getInputs()[0], second = concat.getInputs()[1];
  int64_t last = rankedType(value).getRank() - 1;
  if (static_cast<int64_t>(concat.getDim()) != last ||
      featuresOf(first) != featuresOf(second) ||
      ShapedType::isDynamic(featuresOf(first)))
    return std::nullopt;
  return std::array{first, second};
}

/// The source of a reshape that adds, or takes away, a last dimension of 1.
static Value withoutLastOne(Value value) {
  auto expand = value.getDefiningOp<tensor::ExpandShapeOp>();
  if (!expand || featuresOf(value) != 1)
    return {};
  auto groups = expand.getReassociationIndices();
  // Nothing but the last group has two dimensions.
  for (size_t i = 0; i < groups.size(); ++i)
    if (groups[i].size() != (i + 1 == groups.size() ? 2 : 1))
      return {};
  return expand.getSrc();
}

/// Whether the last two dimensions become one, and no others do.
static bool joinsLastTwo(tensor::CollapseShapeOp op) {
  auto groups = op.getReassociationIndices();
  for (size_t i = 0; i < groups.size(); ++i)
    if (groups[i].size() != (i + 1 == groups.size() ? 2 : 1))
      return false;
  return true;
}

/// What the features of each pair come from, if `value` is put together of
/// such.
static std::optional<std::array<Value, 2>> pairOf(Value value,
                                                  Pairing pairing) {
  if (pairing == Pairing::Halves)
    return partsOf(value);
  auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>();
  if (!collapse || !joinsLastTwo(collapse) ||
      featuresOf(collapse.getSrc()) != 2)
    return std::nullopt;
  auto parts = partsOf(collapse.getSrc());
  if (!parts)
    return std::nullopt;
  for (Value &part : *parts)
    if (!(part = withoutLastOne(part)))
      return std::nullopt;
  return parts;
}

/// The half that a slice takes.
static Half sliced(Value value, Pairing pairing) {
  auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice || slice.getSourceType().getRank() != slice.getType().getRank())
    return {value};
  int64_t rank = slice.getType().getRank(), all = featuresOf(slice.getSource()),
          last = rank - 1;
  for (int64_t i = 0; i < rank; ++i) {
    bool isWhole = getConstantIntValue(slice.getMixedOffsets()[i]) == 0 &&
                   getConstantIntValue(slice.getMixedStrides()[i]) == 1;
    if (i < last && !isWhole)
      return {value};
  }
  std::optional<int64_t> offset =
      getConstantIntValue(slice.getMixedOffsets()[last]);
  std::optional<int64_t> stride =
      getConstantIntValue(slice.getMixedStrides()[last]);
  if (ShapedType::isDynamic(all) || all % 2 || featuresOf(value) != all / 2 ||
      !offset || stride != (pairing == Pairing::Halves ? 1 : 2))
    return {value};
  int64_t second = pairing == Pairing::Halves ? all / 2 : 1;
  if (*offset == 0)
    return {slice.getSource(), 0};
  return *offset == second ? Half{slice.getSource(), 1} : Half{value};
}

//===----------------------------------------------------------------------===//
// Sums of products
//===----------------------------------------------------------------------===//

namespace {
/// A half, negated or not.
struct Factor {
  Half half;
  bool negative = false;
};

struct HalfProduct {
  Half a, b;
  bool negative;
};

class HalfTerms {
public:
  explicit HalfTerms(Pairing pairing) : pairing(pairing) {}
  /// Adds the products whose sum `half` is; false: it is no such sum.
  bool add(Half half, bool negative, unsigned depth = 0);
  SmallVector<HalfProduct> products;

private:
  Factor factorOf(Half half);
  Pairing pairing;
};
} // namespace

Factor HalfTerms::factorOf(Half half) {
  Factor factor{half};
  for (unsigned depth = 0; depth < maxSteps; ++depth) {
    Half &at = factor.half;
    if (auto negation = at.tensor.getDefiningOp<arith::NegFOp>()) {
      at.tensor = negation.getOperand();
      factor.negative = !factor.negative;
      continue;
    }
    if (at.which == Half::whole) {
      Half from = sliced(at.tensor, pairing);
      if (from == at)
        return factor;
      at = from;
      continue;
    }
    auto pair = pairOf(at.tensor, pairing);
    if (!pair)
      return factor;
    at = {(*pair)[at.which]};
  }
  return factor;
}

bool HalfTerms::add(Half half, bool negative, unsigned depth) {
  if (depth > 6)
    return false;
  Factor factor = factorOf(half);
  half = factor.half;
  negative ^= factor.negative;
  Operation *op = half.tensor.getDefiningOp();
  auto part = [&](unsigned i) { return Half{op->getOperand(i), half.which}; };
  if (isa_and_nonnull<arith::AddFOp, arith::SubFOp>(op))
    return add(part(0), negative, depth + 1) &&
           add(part(1), negative ^ isa<arith::SubFOp>(op), depth + 1);
  if (!isa_and_nonnull<arith::MulFOp>(op) || products.size() >= 2)
    return false;
  Factor a = factorOf(part(0)), b = factorOf(part(1));
  products.push_back(
      {a.half, b.half, static_cast<bool>(negative ^ a.negative ^ b.negative)});
  return true;
}

/// What `half` of `x` is multiplied by in `products`, and whether that is
/// subtracted.
static std::optional<Factor> factorBeside(ArrayRef<HalfProduct> products,
                                          Half x) {
  for (const HalfProduct &product : products) {
    if (product.a == x)
      return Factor{product.b, product.negative};
    if (product.b == x)
      return Factor{product.a, product.negative};
  }
  return std::nullopt;
}

/// Whether both halves are known to be equal.
static bool areEqual(const Half &a, const Half &b, Pairing pairing) {
  return a == b || (a.tensor == b.tensor && a.which != Half::whole &&
                    isSameInPairs(a.tensor, pairing));
}

/// The rotation of `x` that the products are, if they are one.
static std::optional<Rotation> rotationOf(Value x, ArrayRef<HalfProduct> first,
                                          ArrayRef<HalfProduct> second,
                                          Pairing pairing,
                                          std::string &reason) {
  auto cos0 = factorBeside(first, {x, 0}), sin0 = factorBeside(first, {x, 1}),
       cos1 = factorBeside(second, {x, 1}), sin1 = factorBeside(second, {x, 0});
  if (!cos0 || !sin0 || !cos1 || !sin1 || cos0->negative || cos1->negative ||
      sin0->negative == sin1->negative)
    return std::nullopt;
  if (!areEqual(cos0->half, cos1->half, pairing) ||
      !areEqual(sin0->half, sin1->half, pairing)) {
    reason = "the two features of a pair are not known to be rotated by the "
             "same angle";
    return std::nullopt;
  }
  return Rotation{x, cos0->half, sin0->half, pairing, sin1->negative};
}

std::optional<Rotation> attn::readRotation(Value value, Pairing pairing,
                                           std::string &reason) {
  int64_t features = featuresOf(value);
  if (ShapedType::isDynamic(features) || features < 2 || features % 2)
    return std::nullopt;
  HalfTerms first(pairing), second(pairing);
  if (!first.add({value, 0}, false) || !second.add({value, 1}, false) ||
      first.products.size() != 2 || second.products.size() != 2)
    return std::nullopt;
  for (const HalfProduct &product : first.products)
    for (const Half &half : {product.a, product.b})
      if (half.which == 0 && half.tensor.getType() == value.getType())
        if (auto rotation = rotationOf(half.tensor, first.products,
                                       second.products, pairing, reason))
          return rotation;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Equal features
//===----------------------------------------------------------------------===//

/// The raw bytes of a constant that is no splat.
static ArrayRef<char> bytesOf(ElementsAttr contents) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(contents)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    return blob ? blob->getData() : ArrayRef<char>();
  }
  auto dense = dyn_cast<DenseElementsAttr>(contents);
  return dense && !dense.isSplat() ? dense.getRawData() : ArrayRef<char>();
}

static bool isSameInConstant(ElementsAttr contents, Pairing pairing) {
  auto type = cast<RankedTensorType>(contents.getType());
  if (auto dense = dyn_cast<DenseElementsAttr>(contents);
      dense && dense.isSplat())
    return true;
  size_t width = type.getElementTypeBitWidth() / 8,
         features = type.getShape().back();
  ArrayRef<char> bytes = bytesOf(contents);
  if (width == 0 || bytes.empty() || bytes.size() % (features * width))
    return false;
  for (size_t row = 0; row < bytes.size(); row += features * width)
    for (size_t i = 0; i < features / 2; ++i) {
      size_t a = pairing == Pairing::Halves ? i : 2 * i,
             b = pairing == Pairing::Halves ? i + features / 2 : 2 * i + 1;
      if (bytes.slice(row + a * width, width) !=
          bytes.slice(row + b * width, width))
        return false;
    }
  return true;
}

/// Whether the last group of a reshape is the last dimension of both sides.
template <typename Op> static bool keepsLast(Op op) {
  auto groups = op.getReassociationIndices();
  return !groups.empty() && groups.back().size() == 1;
}

/// A loop whose body looks up a table at its own last index: rows of the table.
static Value tableOf(linalg::GenericOp op) {
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  auto extract = yield.getOperand(0).getDefiningOp<tensor::ExtractOp>();
  if (!extract || op.getNumResults() != 1 || extract.getIndices().empty() ||
      op.getNumParallelLoops() != op.getNumLoops() ||
      !op.getIndexingMapsArray().back().isIdentity())
    return {};
  auto last = extract.getIndices().back().getDefiningOp<linalg::IndexOp>();
  if (!last || last.getDim() != op.getNumLoops() - 1)
    return {};
  // The other indices do not depend on the last loop.
  SmallVector<Value> work(extract.getIndices().drop_back());
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!work.empty()) {
    Operation *from = work.pop_back_val().getDefiningOp();
    if (!from || from->getBlock() != op.getBody() || !seen.insert(from).second)
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(from);
        index && index.getDim() == op.getNumLoops() - 1)
      return {};
    llvm::append_range(work, from->getOperands());
  }
  return op.getNumDpsInputs() == 0 ? extract.getTensor() : Value();
}

static bool isSame(Value value, Pairing pairing, unsigned depth) {
  if (depth > maxSteps || !isa<RankedTensorType>(value.getType()))
    return depth <= maxSteps; // a number is the same everywhere
  int64_t features = featuresOf(value);
  if (features == ShapedType::kDynamic || features % 2)
    return false;
  ElementsAttr contents;
  if (matchPattern(value, m_Constant(&contents)))
    return isSameInConstant(contents, pairing);
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  auto through = [&](Value next) { return isSame(next, pairing, depth + 1); };
  if (auto pair = pairOf(value, pairing))
    return (*pair)[0] == (*pair)[1];
  if (OpTrait::hasElementwiseMappableTraits(op))
    return llvm::all_of(op->getOperands(), through);
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](tensor::SplatOp) { return true; })
      .Case([&](tensor::CastOp cast) { return through(cast.getSource()); })
      .Case([&](tensor::ExpandShapeOp expand) {
        return keepsLast(expand) && through(expand.getSrc());
      })
      .Case([&](tensor::CollapseShapeOp collapse) {
        if (keepsLast(collapse))
          return through(collapse.getSrc());
        // A number that is repeated for its neighbour.
        auto repeated = collapse.getSrc().getDefiningOp<linalg::BroadcastOp>();
        int64_t rank = collapse.getSrcType().getRank();
        return pairing == Pairing::Neighbours && joinsLastTwo(collapse) &&
               repeated && collapse.getSrcType().getDimSize(rank - 1) == 2 &&
               llvm::is_contained(repeated.getDimensions(), rank - 1);
      })
      .Case([&](tensor::ExtractSliceOp slice) {
        int64_t last = slice.getSourceType().getRank() - 1;
        return slice.getType().getRank() == last + 1 &&
               featuresOf(slice.getSource()) == features &&
               through(slice.getSource());
      })
      .Case([&](tensor::ConcatOp concat) {
        return static_cast<int64_t>(concat.getDim()) + 1 <
                   concat.getType().getRank() &&
               llvm::all_of(concat.getInputs(), through);
      })
      .Case([&](linalg::TransposeOp transpose) {
        int64_t last = rankedType(value).getRank() - 1;
        return transpose.getPermutation().back() == last &&
               through(transpose.getInput());
      })
      .Case([&](linalg::BroadcastOp broadcast) {
        int64_t last = rankedType(value).getRank() - 1;
        return llvm::is_contained(broadcast.getDimensions(), last) ||
               through(broadcast.getInput());
      })
      .Case([&](linalg::GenericOp generic) {
        Value table = tableOf(generic);
        return table && featuresOf(table) == features && through(table);
      })
      .Default(false);
}

bool attn::isSameInPairs(Value value, Pairing pairing) {
  return isSame(value, pairing, 0);
}
