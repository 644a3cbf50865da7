// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the steps of one attention; which orders are refused and why stands at
// the head of FuseAttention.cpp.
#include "AttentionChain.h"
#include "ScoreSteps.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/Threading.h"
#include <cmath>

using namespace mlir;
using namespace attn;

std::string attn::nameOf(Operation *op) {
  return op->getName().getStringRef().str();
}

static std::string originOf(Value value) {
  Operation *op = value.getDefiningOp();
  return op ? nameOf(op) : "an argument";
}

/// Why weights are not those of one attention.
static std::string refuseWeights(Value weights) {
  auto difference = weights.getDefiningOp<arith::SubFOp>();
  if (difference && difference.getLhs().getDefiningOp<SoftmaxOp>())
    return "the weights are a difference by arith.subf (differential "
           "attention); write attn.subtract_weights, which has the factor of "
           "the second map as an operand";
  return "the weights come from " + originOf(weights) +
         ", not from attn.softmax or attn.sigmoid";
}

/// Finds the ops from the weights of one map up to scores.
static std::optional<Refusal> findSteps(Chain &chain, Value weights) {
  ContextOp context = chain.context;
  chain.normalization = weights.getDefiningOp();
  if (!isa_and_nonnull<SoftmaxOp, SigmoidOp>(chain.normalization))
    return Refusal{context, refuseWeights(weights)};
  Value scores = chain.normalization->getOperand(0);
  while (isa_and_nonnull<ScaleOp, MaskOp, BiasOp>(scores.getDefiningOp()) ||
         isScoreStep(scores.getDefiningOp())) {
    chain.steps.push_back(scores.getDefiningOp());
    scores = scores.getDefiningOp()->getOperand(0);
  }
  std::reverse(chain.steps.begin(), chain.steps.end());
  chain.scores = scores.getDefiningOp<ScoresOp>();
  if (!chain.scores)
    return Refusal{context, "the scores come from " + originOf(scores) +
                                ", not from attn.scores"};
  SmallVector<Operation *> ops(chain.steps);
  ops.append({chain.normalization, chain.scores});
  for (Operation *op : ops)
    if (op->getBlock() != context->getBlock())
      return Refusal{op, nameOf(op) + " stands in another block than "
                                      "attn.context"};
  return std::nullopt;
}

/// The input of the scales above `value`; multiplies their factors.
static Value peelScales(Value value, Chain &chain) {
  while (auto scale = value.getDefiningOp<ScaleOp>()) {
    chain.operandScales.push_back(scale);
    chain.operandFactor *= scale.getFactor().convertToDouble();
    value = scale.getInput();
  }
  return value;
}

static std::optional<Refusal> applyMask(MaskOp op, Chain &chain) {
  if (!chain.mask) {
    chain.mask = op.getMask();
  } else {
    StringRef conflict = whyNotConjoin(chain.mask, op.getMask());
    if (!conflict.empty())
      return Refusal{op, conflict.str()};
    chain.mask =
        conjoinMasks(chain.mask, chain.maskOperands.size(), op.getMask());
  }
  llvm::append_range(chain.maskOperands, op.getMaskOperands());
  ++chain.masks;
  return std::nullopt;
}

/// A score function sees scaled scores, before bias and mask.
static std::optional<Refusal> applyFunction(Operation *step, Chain &chain) {
  if (chain.mask)
    return Refusal{step, nameOf(step) + " stands after attn.mask and would see "
                                        "excluded pairs; mask after"};
  if (chain.bias)
    return Refusal{step, nameOf(step) +
                             " stands after attn.bias, but attn.sdpa "
                             "adds the bias after it"};
  chain.functions.push_back(step);
  return std::nullopt;
}

static std::optional<Refusal> applyStep(Operation *step, Chain &chain) {
  if (auto mask = dyn_cast<MaskOp>(step))
    return applyMask(mask, chain);
  if (isScoreStep(step))
    return applyFunction(step, chain);
  if (auto bias = dyn_cast<BiasOp>(step)) {
    if (chain.bias)
      return Refusal{step, "attn.bias is the second one; add the two biases "
                           "before"};
    chain.bias = bias.getBias();
    return std::nullopt;
  }
  double factor = cast<ScaleOp>(step).getFactor().convertToDouble();
  if (chain.bias)
    return Refusal{step, "attn.scale stands after attn.bias and would scale "
                         "the bias too; scale before"};
  if (!chain.functions.empty())
    return Refusal{step, "attn.scale stands after " +
                             nameOf(chain.functions.back()) +
                             ", but attn.sdpa scales before it"};
  if (chain.mask && factor < 0)
    return Refusal{step, "attn.scale by a negative factor stands after "
                         "attn.mask and would turn -inf into +inf; mask after"};
  chain.factor *= factor;
  return std::nullopt;
}

/// Asks the mask's verifier and keeps what it says to itself.
static bool maskFits(Chain &chain, ArrayRef<int64_t> scores) {
  // Other threads may report something of their own meanwhile.
  ScopedDiagnosticHandler silence(
      chain.mask.getContext(), [thread = llvm::get_threadid()](Diagnostic &) {
        return success(llvm::get_threadid() == thread);
      });
  return succeeded(
      verifyMask([&] { return chain.context.emitError(); }, chain.mask,
                 ValueRange(chain.maskOperands).getTypes(), scores));
}

/// attn.sdpa knows more about its operands together than each step alone.
static std::optional<Refusal> checkShapes(Chain &chain) {
  RankedTensorType q = chain.scores.getQuery().getType(),
                   k = chain.scores.getKey().getType(),
                   v = chain.context.getValue().getType(),
                   o = chain.context.getOut().getType();
  int64_t rank = q.getRank();
  auto differ = [](int64_t a, int64_t b) {
    return !ShapedType::isDynamic(a) && !ShapedType::isDynamic(b) && a != b;
  };
  if (rank >= 3 && differ(k.getDimSize(rank - 3), v.getDimSize(rank - 3)))
    return Refusal{chain.context, "the key has " +
                                      std::to_string(k.getDimSize(rank - 3)) +
                                      " heads, but the value " +
                                      std::to_string(v.getDimSize(rank - 3))};
  bool same =
      !differ(k.getDimSize(rank - 2), v.getDimSize(rank - 2)) &&
      !differ(q.getDimSize(rank - 2), o.getDimSize(rank - 2)) &&
      (rank < 3 || !differ(q.getDimSize(rank - 3), o.getDimSize(rank - 3))) &&
      (rank < 4 || (!differ(q.getDimSize(0), v.getDimSize(0)) &&
                    !differ(q.getDimSize(0), o.getDimSize(0))));
  SmallVector<int64_t> scores(q.getShape().drop_back());
  scores.push_back(k.getDimSize(rank - 2));
  if (chain.bias)
    same &= broadcastsTo(
        cast<RankedTensorType>(chain.bias.getType()).getShape(), scores);
  if (chain.mask)
    same &= maskFits(chain, scores);
  if (!same)
    return Refusal{chain.context,
                   "sizes of query, key, value, bias or mask contradict each "
                   "other"};
  return std::nullopt;
}

/// attn.sdpa has one of everything but query and key.
static std::optional<Refusal> compareMaps(const Chain &first,
                                          const Chain &second) {
  auto scaleOf = [](const Chain &map) {
    return map.factor * map.operandFactor;
  };
  std::pair<StringRef, bool> parts[] = {
      {"types of queries", first.query.getType() == second.query.getType()},
      {"types of keys", first.key.getType() == second.key.getType()},
      {"scales", scaleOf(first) == scaleOf(second)},
      {"score functions",
       llvm::equal(first.functions, second.functions, sameScoreStep)},
      {"biases", first.bias == second.bias},
      {"masks",
       first.mask == second.mask && first.maskOperands == second.maskOperands},
      {"normalizations",
       first.normalization->getName() == second.normalization->getName()},
      {"sinks", first.sinks() == second.sinks()}};
  for (auto [name, same] : parts)
    if (!same)
      return Refusal{first.difference,
                     ("the two maps have different " + name +
                      ", but attn.sdpa subtracts maps that have all but query "
                      "and key in common")
                         .str()};
  return std::nullopt;
}

/// Reads the steps of one map.
static std::optional<Refusal> readMap(Value weights, Chain &chain) {
  ContextOp context = chain.context;
  if (std::optional<Refusal> refusal = findSteps(chain, weights))
    return refusal;
  chain.query = peelScales(chain.scores.getQuery(), chain);
  chain.key = peelScales(chain.scores.getKey(), chain);
  chain.levels.push_back({chain.scores.getScores(), 1, 0, false, 0});
  for (Operation *step : chain.steps) {
    if (std::optional<Refusal> refusal = applyStep(step, chain))
      return refusal;
    chain.levels.push_back({step->getResult(0), chain.factor,
                            chain.functions.size(),
                            static_cast<bool>(chain.bias), chain.masks});
  }
  double scale = chain.factor * chain.operandFactor;
  if (!std::isfinite(scale) || scale == 0)
    return Refusal{context, "the product of all scales is 0 or not finite"};
  return checkShapes(chain);
}

std::optional<Refusal> attn::readChain(ContextOp context, Chain &chain) {
  chain.context = context;
  Value weights = context.getWeights();
  chain.dropout = weights.getDefiningOp<DropoutOp>();
  if (chain.dropout) {
    if (chain.dropout->getBlock() != context->getBlock())
      return Refusal{chain.dropout, "attn.dropout stands in another block than "
                                    "attn.context"};
    weights = chain.dropout.getWeights();
  }
  chain.difference = weights.getDefiningOp<SubtractWeightsOp>();
  if (!chain.difference)
    return readMap(weights, chain);
  if (chain.difference->getBlock() != context->getBlock())
    return Refusal{chain.difference,
                   "attn.subtract_weights stands in another block than "
                   "attn.context"};
  chain.second = std::make_unique<Chain>();
  chain.second->context = context;
  if (std::optional<Refusal> refusal =
          readMap(chain.difference.getFirst(), chain))
    return refusal;
  if (std::optional<Refusal> refusal =
          readMap(chain.difference.getSecond(), *chain.second))
    return refusal;
  return compareMaps(chain, *chain.second);
}

/// Without scores and what stands in front of them where `onlyReaders`.
static void collect(const Chain &chain, bool onlyReaders,
                    SetVector<Operation *> &ops) {
  const Chain *second = chain.second.get();
  for (const Chain *map : {&chain, second}) {
    if (!map)
      continue;
    if (!onlyReaders) {
      ops.insert(map->operandScales.rbegin(), map->operandScales.rend());
      ops.insert(map->scores);
    }
    ops.insert(map->steps.begin(), map->steps.end());
    ops.insert(map->normalization);
  }
  if (chain.difference)
    ops.insert(chain.difference);
  if (chain.dropout)
    ops.insert(chain.dropout);
  ops.insert(chain.context);
}

void attn::collectOps(const Chain &chain, SetVector<Operation *> &ops) {
  collect(chain, /*onlyReaders=*/false, ops);
}

DenseSet<Operation *> attn::readersIn(ArrayRef<Chain> chains) {
  SetVector<Operation *> ops;
  for (const Chain &chain : chains)
    collect(chain, /*onlyReaders=*/true, ops);
  return DenseSet<Operation *>(ops.begin(), ops.end());
}
