// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The terms that look something up: bitmaps, trees, documents, predicates.
#include "Masks.h"
#include <algorithm>

using namespace mlir;
using namespace attn;
using namespace attn::reference;

namespace attn::reference {
/// A predicate's steps as ops of a block whose arguments are the indices of the
/// batch entry, head, query and key, and the captured values.
struct Predicate {
  Block block;
  SmallVector<Datum> inputs;
  std::unique_ptr<Frame> frame;
};
} // namespace attn::reference

static const Tensor &tensorOf(const Datum &datum) {
  return *std::get<std::shared_ptr<const Tensor>>(datum);
}

int64_t Mask::inRow(OperandAttr operand, ArrayRef<int64_t> pair,
                    int64_t i) const {
  const Tensor &tensor = tensorOf(operands[operand.getPosition()]);
  if (tensor.rank() == 1)
    return tensor.at({i}).integer;
  return tensor.at({tensor.shape[0] == 1 ? 0 : pair.front(), i}).integer;
}

bool Mask::seesBlock(BlockAttr term, ArrayRef<int64_t> pair) const {
  int64_t row = pair[pair.size() - 2] / term.getQueries();
  int64_t column = pair.back() / term.getKeys();
  if (DenseBoolArrayAttr bits = term.getBits())
    return row * term.getColumns() < bits.size() &&
           column < term.getColumns() && bits[row * term.getColumns() + column];
  const Tensor &bitmap = tensorOf(operands[term.getOperand().getPosition()]);
  SmallVector<int64_t> at;
  int64_t leading = bitmap.rank() - 2;
  for (int64_t i = 0; i < leading; ++i)
    at.push_back(bitmap.shape[i] == 1 ? 0
                                      : pair[pair.size() - 2 - leading + i]);
  at.append({row, column});
  return row < bitmap.shape[leading] && column < bitmap.shape[leading + 1] &&
         bitmap.at(at).integer != 0;
}

bool Mask::seesTree(TreeAttr term, ArrayRef<int64_t> pair) const {
  int64_t first = liveKeys(pair) - term.getTokens();
  int64_t draft = pair[pair.size() - 2] - scoresShape[scoresShape.size() - 2] +
                  term.getTokens();
  int64_t bit = pair.back() - first;
  if (bit < 0)
    return true;
  if (draft < 0 || bit >= term.getTokens())
    return false;
  return inRow(term.getOperand(), pair, draft) >> bit & 1;
}

/// The document that holds position `i`; -1 if there is none.
static int64_t numberAt(const Tensor &starts, int64_t i) {
  for (int64_t d = starts.size() - 2; d >= 0; --d)
    if (starts.elements[d].integer <= i && i < starts.elements[d + 1].integer)
      return d;
  return -1;
}

bool Mask::seesDocument(DocumentAttr term, ArrayRef<int64_t> pair) const {
  int64_t q = pair[pair.size() - 2], k = pair.back();
  if (!term.getCumulative())
    return inRow(term.getQueries(), pair, q) == inRow(term.getKeys(), pair, k);
  auto tensor = [&](OperandAttr operand) -> const Tensor & {
    return tensorOf(operands[operand.getPosition()]);
  };
  int64_t document = numberAt(tensor(term.getQueries()), q);
  return document >= 0 && document == numberAt(tensor(term.getKeys()), k);
}

Mask::Document Mask::documentOf(ArrayRef<int64_t> pair) const {
  SmallVector<Attribute> conjunction{*mask};
  if (auto all = dyn_cast<AllOfAttr>(*mask))
    conjunction.assign(all.getTerms().begin(), all.getTerms().end());
  auto term = cast<DocumentAttr>(
      *llvm::find_if(conjunction, llvm::IsaPred<DocumentAttr>));
  const Tensor &queries = tensorOf(operands[term.getQueries().getPosition()]);
  const Tensor &keys = tensorOf(operands[term.getKeys().getPosition()]);
  int64_t number = numberAt(queries, pair[pair.size() - 2]);
  if (number < 0 || number + 1 >= keys.size())
    return {};
  auto border = [](const Tensor &starts, int64_t i, int64_t size) {
    return std::clamp<int64_t>(starts.elements[i].integer, 0, size);
  };
  int64_t rows = scoresShape[scoresShape.size() - 2], size = scoresShape.back();
  return {border(queries, number, rows), border(queries, number + 1, rows),
          border(keys, number, size), border(keys, number + 1, size)};
}

LogicalResult Mask::makePredicate(Frame &frame, Operation *op,
                                  PredicateAttr term) {
  auto made = std::make_shared<Predicate>();
  MLIRContext *context = term.getContext();
  Location loc = op->getLoc();
  SmallVector<Value> values;
  for (int i = 0; i < 4; ++i)
    values.push_back(made->block.addArgument(IndexType::get(context), loc));
  for (auto [type, operand] :
       llvm::zip(term.getProgram().getInputs(), term.getOperands())) {
    values.push_back(made->block.addArgument(type, loc));
    made->inputs.push_back(operands[operand.getPosition()]);
  }
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(&made->block);
  for (StepAttr step : term.getProgram().getSteps()) {
    SmallVector<Value> read;
    for (int64_t value : step.getOperands().asArrayRef())
      read.push_back(values[value]);
    OperationState state(loc, step.getName().getValue(), read, step.getType(),
                         step.getAttributes().getValue());
    values.push_back(builder.create(state)->getResult(0));
  }
  YieldOp::create(builder, loc, values.back());
  made->frame = std::make_unique<Frame>(frame.options, frame.depth);
  predicates[term.getAsOpaquePointer()] = made;
  return success();
}

std::optional<bool> attn::reference::answerOf(Frame &frame, Block &block,
                                              ArrayRef<int64_t> pair,
                                              ArrayRef<Datum> inputs) {
  SmallVector<Datum> arguments(4 - pair.size(), Number::ofInteger(0));
  for (int64_t i : pair)
    arguments.push_back(Number::ofInteger(i));
  llvm::append_range(arguments, inputs);
  FailureOr<SmallVector<Datum>> answer = frame.run(block, arguments);
  if (failed(answer))
    return std::nullopt;
  return std::get<Number>(answer->front()).integer != 0;
}

bool Mask::seesPredicate(PredicateAttr term, ArrayRef<int64_t> pair) const {
  Predicate &predicate = *predicates.at(term.getAsOpaquePointer());
  // A failure has been reported.
  return answerOf(*predicate.frame, predicate.block, pair, predicate.inputs)
      .value_or(false);
}
