// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inequalities of docs/SpecMasks.md, written out. Deliberately not derived
// from the terms' formulas: those are what this checks.
#include "Masks.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;
using namespace attn::reference;

static const Tensor *asTensor(const Datum &datum) {
  auto *tensor = std::get_if<std::shared_ptr<const Tensor>>(&datum);
  return tensor ? tensor->get() : nullptr;
}

FailureOr<Mask> Mask::make(Frame &frame, Operation *op,
                           std::optional<Attribute> mask, OperandRange operands,
                           ArrayRef<int64_t> scoresShape) {
  Mask result;
  result.mask = mask;
  result.operands = frame.get(operands);
  result.scoresShape.assign(scoresShape.begin(), scoresShape.end());
  if (!mask)
    return result;
  if (hasNumberedDocuments(*mask))
    return op->emitOpError("cannot be evaluated by the reference: the tables "
                           "of numbered documents are for compiled kernels");
  if (failed(result.check(op, *mask)))
    return failure();
  WalkResult made = mask->walk([&](PredicateAttr term) {
    return failed(result.makePredicate(frame, op, term))
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (made.wasInterrupted())
    return failure();
  return result;
}

int64_t Mask::integer(int64_t position, ArrayRef<int64_t> pair) const {
  constexpr int64_t limit = int64_t(1) << 40;
  const Tensor *tensor = asTensor(operands[position]);
  // One integer for all, or one per entry of the leading dimension.
  int64_t found =
      !tensor
          ? std::get<Number>(operands[position]).integer
          : tensor->elements[tensor->size() == 1 ? 0 : pair.front()].integer;
  return std::clamp(found, -limit, limit);
}

int64_t Mask::liveKeys(ArrayRef<int64_t> pair) const {
  // Only a key_length of the conjunction that the whole mask is counts: under
  // `or` or `not` it does not say that later keys hold no data.
  SmallVector<Attribute> conjunction{*mask};
  if (auto all = dyn_cast<AllOfAttr>(*mask))
    conjunction.assign(all.getTerms().begin(), all.getTerms().end());
  std::optional<int64_t> shortest;
  for (Attribute term : conjunction)
    if (auto length = dyn_cast<KeyLengthAttr>(term)) {
      int64_t keys = integer(length.getOperand(), pair);
      shortest = std::min(keys, shortest.value_or(keys));
    }
  return shortest.value_or(scoresShape.back());
}

int64_t Mask::number(Attribute number, ArrayRef<int64_t> pair) const {
  if (auto operand = dyn_cast<OperandAttr>(number))
    return integer(operand.getPosition(), pair);
  return cast<IntegerAttr>(number).getInt();
}

int64_t Mask::standsOn(PositionAttr position, ArrayRef<int64_t> pair) const {
  int64_t q = pair[pair.size() - 2];
  if (position && position.getInDocument()) {
    Document own = documentOf(pair);
    return position.getAlignment() == Alignment::TopLeft
               ? q - own.firstQuery + own.firstKey
               : q - own.endQuery + own.endKey;
  }
  if (!position || position.getAlignment() == Alignment::TopLeft)
    return q;
  if (position.getAlignment() == Alignment::BottomRight)
    return q + liveKeys(pair) - scoresShape[scoresShape.size() - 2];
  return q + number(position.getOffset(), pair);
}

static int64_t floorDivide(int64_t a, int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

int64_t Mask::originOf(ChunkedAttr term, ArrayRef<int64_t> pair) const {
  if (term.getOrigin())
    return integer(term.getOrigin().getPosition(), pair);
  bool inDocument = term.getPosition() && term.getPosition().getInDocument();
  return inDocument ? documentOf(pair).firstKey : 0;
}

bool Mask::seesCausal(CausalAttr causal, ArrayRef<int64_t> pair) const {
  int64_t q = pair[pair.size() - 2], k = pair.back();
  int64_t queries = scoresShape[scoresShape.size() - 2];
  if (causal.getInDocument())
    return k <=
           standsOn(PositionAttr::get(causal.getContext(),
                                      causal.getAlignment(), Attribute(), true),
                    pair);
  switch (causal.getAlignment()) {
  case Alignment::TopLeft:
    return k <= q;
  case Alignment::BottomRight:
    return k <= q + (liveKeys(pair) - queries);
  case Alignment::Offset:
    break;
  }
  return k <= q + (causal.getOperand() < 0
                       ? causal.getOffset()
                       : integer(causal.getOperand(), pair));
}

bool Mask::sees(Attribute term, ArrayRef<int64_t> pair) const {
  int64_t k = pair.back();
  auto seesTerm = [&](Attribute inner) { return sees(inner, pair); };
  return TypeSwitch<Attribute, bool>(term)
      .Case([&](CausalAttr causal) { return seesCausal(causal, pair); })
      .Case([&](KeyLengthAttr length) {
        return k < integer(length.getOperand(), pair);
      })
      .Case([&](AllowedAttr allowed) {
        const Tensor &tensor = *asTensor(operands[allowed.getOperand()]);
        return tensor.elements[broadcastOffset(tensor, pair)].integer != 0;
      })
      .Case([&](WindowAttr window) {
        int64_t own = standsOn(window.getPosition(), pair);
        return (!window.getLeft() ||
                k >= own - number(window.getLeft(), pair)) &&
               (!window.getRight() ||
                k <= own + number(window.getRight(), pair));
      })
      .Case([&](PrefixAttr prefix) {
        return k < number(prefix.getCount(), pair);
      })
      .Case([&](SinkAttr sink) { return k < sink.getCount(); })
      .Case([&](ChunkedAttr chunked) {
        int64_t origin = originOf(chunked, pair), size = chunked.getSize();
        return floorDivide(standsOn(chunked.getPosition(), pair) - origin,
                           size) == floorDivide(k - origin, size);
      })
      .Case([&](DilatedAttr dilated) {
        return (standsOn(dilated.getPosition(), pair) - k) %
                   dilated.getStep() ==
               0;
      })
      .Case([&](BlockAttr block) { return seesBlock(block, pair); })
      .Case([&](TreeAttr tree) { return seesTree(tree, pair); })
      .Case([&](DocumentAttr document) { return seesDocument(document, pair); })
      .Case([&](PredicateAttr predicate) {
        return seesPredicate(predicate, pair);
      })
      .Case(
          [&](AllOfAttr all) { return llvm::all_of(all.getTerms(), seesTerm); })
      .Case(
          [&](AnyOfAttr any) { return llvm::any_of(any.getTerms(), seesTerm); })
      .Case([&](NotAttr negation) { return !seesTerm(negation.getTerm()); })
      .Default([](Attribute) { return false; }); // check() has refused it
}

LogicalResult Mask::checkInteger(Operation *op, int64_t position) const {
  const Tensor *tensor = asTensor(operands[position]);
  return require(op,
                 !tensor || tensor->size() == 1 ||
                     (tensor->rank() == 1 && scoresShape.size() > 2 &&
                      tensor->size() == scoresShape.front()),
                 "mask operand " + Twine(position) +
                     " to hold one integer, or one per batch entry");
}

LogicalResult Mask::checkNumber(Operation *op, Attribute number) const {
  auto operand = dyn_cast_or_null<OperandAttr>(number);
  return operand ? checkInteger(op, operand.getPosition()) : success();
}

LogicalResult Mask::checkRow(Operation *op, OperandAttr operand,
                             int64_t size) const {
  const Tensor *tensor = asTensor(operands[operand.getPosition()]);
  bool rows =
      tensor && tensor->rank() == 2 && scoresShape.size() > 2 &&
      (tensor->shape[0] == 1 || tensor->shape[0] == scoresShape.front());
  return require(op,
                 tensor && (tensor->rank() == 1 || rows) &&
                     tensor->shape.back() == size,
                 "mask operand " + Twine(operand.getPosition()) +
                     " to have rows of " + Twine(size));
}

LogicalResult Mask::check(Operation *op, Attribute term) const {
  auto checkTerms = [&](ArrayRef<Attribute> terms) {
    return success(llvm::all_of(
        terms, [&](Attribute t) { return succeeded(check(op, t)); }));
  };
  auto checkPosition = [&](PositionAttr position) {
    return position ? checkNumber(op, position.getOffset()) : success();
  };
  int64_t rank = scoresShape.size();
  return TypeSwitch<Attribute, LogicalResult>(term)
      .Case([&](CausalAttr causal) {
        return causal.getOperand() < 0 ? success()
                                       : checkInteger(op, causal.getOperand());
      })
      .Case([&](KeyLengthAttr length) {
        return checkInteger(op, length.getOperand());
      })
      .Case([&](WindowAttr window) {
        return success(succeeded(checkNumber(op, window.getLeft())) &&
                       succeeded(checkNumber(op, window.getRight())) &&
                       succeeded(checkPosition(window.getPosition())));
      })
      .Case(
          [&](PrefixAttr prefix) { return checkNumber(op, prefix.getCount()); })
      .Case<ChunkedAttr, DilatedAttr>(
          [&](auto other) { return checkPosition(other.getPosition()); })
      .Case([&](TreeAttr tree) {
        return checkRow(op, tree.getOperand(), tree.getTokens());
      })
      .Case([&](DocumentAttr document) {
        if (document.getCumulative())
          return success();
        return success(
            succeeded(
                checkRow(op, document.getQueries(), scoresShape[rank - 2])) &&
            succeeded(checkRow(op, document.getKeys(), scoresShape[rank - 1])));
      })
      .Case<SinkAttr, BlockAttr, PredicateAttr>([](auto) { return success(); })
      .Case([&](AllowedAttr allowed) {
        const Tensor *tensor = asTensor(operands[allowed.getOperand()]);
        return require(op, tensor && broadcasts(tensor->shape, scoresShape),
                       "mask operand " + Twine(allowed.getOperand()) +
                           " to broadcast to the scores");
      })
      .Case([&](AllOfAttr all) { return checkTerms(all.getTerms()); })
      .Case([&](AnyOfAttr any) { return checkTerms(any.getTerms()); })
      .Case([&](NotAttr negation) { return check(op, negation.getTerm()); })
      .Default([&](Attribute unknown) {
        return op->emitOpError()
               << "cannot be evaluated by the reference: unknown mask term "
               << unknown;
      });
}
