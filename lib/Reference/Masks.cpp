// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inequalities of docs/Spec.md, written out. Deliberately not derived from
// the terms' formulas: those are what this checks.
#include "Masks.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
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
  if (mask && failed(result.check(op, *mask)))
    return failure();
  return result;
}

int64_t Mask::integer(int64_t position, ArrayRef<int64_t> pair) const {
  const Tensor *tensor = asTensor(operands[position]);
  if (!tensor)
    return std::get<Number>(operands[position]).integer;
  // One integer for all, or one per entry of the leading dimension.
  bool shared = tensor->size() == 1;
  return tensor->elements[shared ? 0 : pair.front()].integer;
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

bool Mask::sees(Attribute term, ArrayRef<int64_t> pair) const {
  int64_t q = pair[pair.size() - 2], k = pair.back();
  int64_t queries = scoresShape[scoresShape.size() - 2];
  auto seesTerm = [&](Attribute inner) { return sees(inner, pair); };
  return TypeSwitch<Attribute, bool>(term)
      .Case([&](CausalAttr causal) {
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
      })
      .Case([&](KeyLengthAttr length) {
        return k < integer(length.getOperand(), pair);
      })
      .Case([&](AllowedAttr allowed) {
        const Tensor &tensor = *asTensor(operands[allowed.getOperand()]);
        return tensor.elements[broadcastOffset(tensor, pair)].integer != 0;
      })
      .Case(
          [&](AllOfAttr all) { return llvm::all_of(all.getTerms(), seesTerm); })
      .Case(
          [&](AnyOfAttr any) { return llvm::any_of(any.getTerms(), seesTerm); })
      .Case([&](NotAttr negation) { return !seesTerm(negation.getTerm()); })
      .Default([](Attribute) { return false; }); // check() has refused it
}

LogicalResult Mask::check(Operation *op, Attribute term) const {
  auto checkTerms = [&](ArrayRef<Attribute> terms) {
    return success(llvm::all_of(
        terms, [&](Attribute t) { return succeeded(check(op, t)); }));
  };
  auto checkInteger = [&](int64_t position) -> LogicalResult {
    const Tensor *tensor = asTensor(operands[position]);
    return require(op,
                   !tensor || tensor->size() == 1 ||
                       (tensor->rank() == 1 && scoresShape.size() > 2 &&
                        tensor->size() == scoresShape.front()),
                   "mask operand " + Twine(position) +
                       " to hold one integer, or one per batch entry");
  };
  return TypeSwitch<Attribute, LogicalResult>(term)
      .Case([&](CausalAttr causal) {
        return causal.getOperand() < 0 ? success()
                                       : checkInteger(causal.getOperand());
      })
      .Case([&](KeyLengthAttr length) {
        return checkInteger(length.getOperand());
      })
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
