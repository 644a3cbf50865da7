// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-fuse: the textbook steps of one attention become one attn.sdpa.
//
//   %s = attn.scores %q, %k
//   %t = attn.scale %s by 0.125
//   %m = attn.mask %t where causal(top_left)
//   %w = attn.softmax %m
//   %o = attn.context %w, %v
// becomes
//   %o = attn.sdpa %q, %k, %v scale 0.125 where causal(top_left)
//
// It starts at every attn.context and reads upwards: softmax or sigmoid (which
// the attribute `normalization` tells apart), then any order of scale, softcap,
// score_mod, alibi, mask and bias, then scores, then scales of the query and of
// the key. attn.sdpa has one fixed order: scale, score function (softcap,
// score_mod and alibi become one, in the order in which they stand), bias,
// mask. An order that means something else is refused:
//   - scale after a part of the score function;
//   - a part of the score function after mask or bias;
//   - scale after bias, since it scales the bias too;
//   - a negative scale after a mask, since it makes -inf into +inf;
//   - a second bias (add the two before);
//   - two masks of which one counts from the last live key and the other says
//     which key that is (`causal(bottom_right)`, `key_length`): in one mask
//     they mean something else than one after the other.
// All other orders mean the same, because exclusion is -inf and -inf stays -inf
// under a positive factor and under a finite sum.
//
// Scores or weights with a use outside the steps become results of the
// attn.sdpa. It has one `scores` result, at one of the stages raw, scaled,
// modified, biased or masked; where a use needs anything else, nothing is
// fused. A softmax that several contexts read is computed once for each of
// them.
//
// Differential attention has two maps, each with its steps, and one context:
//
//   %w1 = attn.softmax %m1
//   %w2 = attn.softmax %m2
//   %w = attn.subtract_weights %w1, %w2 by %lambda
//   %o = attn.context %w, %v
// becomes
//   %o = attn.sdpa %q1, %k1, %v minus %q2, %k2 by %lambda scale 0.125 where ..
//
// attn.dropout may stand in front of the context; weights that are returned are
// those in front of it.
//
// Maps that differ in more than query and key are refused, and so are scores or
// weights with a use outside: such an attn.sdpa returns out only.
//
// First every context is decided, then all are rewritten: whether a value has a
// use outside depends on what else is fused, so refusals are repeated until
// nothing changes.
//
// Results of an attn.sdpa, behind out, that nothing reads go.
//
// Before: attn-normalize has run. After: a context that is left carries its
// reason as the attribute `attn.not_fused` (attn-check-target prints it) and in
// a missed remark at the op that is in the way; each fusion is a passed remark.
//
// Not handled: scales after softmax, steps in different blocks, a scale between
// attn.split_heads and its input (attn-normalize moves it). Statistics in f32
// also where the scale stood on a query of f16: the fused form rounds less.
#include "AttentionChain.h"
#include "ScoreSteps.h"
#include "UnreadResults.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace attn {
#define GEN_PASS_DEF_FUSEATTENTION
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace attn;

namespace {
/// What is decided about a context that will be fused.
struct Plan {
  bool weights = false;
  Value returned; ///< the scores that stay visible, if any
  std::optional<ScoresStage> stage;
  bool keepOperandScales = false; ///< so that raw scores stay what they were
  Operation *insertAfter = nullptr;
  bool atContext = true; ///< else after `insertAfter`, or first in the block
};
} // namespace

//===----------------------------------------------------------------------===//
// Deciding
//===----------------------------------------------------------------------===//

/// The stage of attn.sdpa after which scores are what they are at `level`.
static std::optional<ScoresStage> stageOf(const Level &level,
                                          const Chain &chain) {
  bool scaled = level.factor == chain.factor;
  bool biased = level.biased == static_cast<bool>(chain.bias);
  bool modified = level.functions == chain.functions.size();
  if (level.masks)
    return scaled && modified && biased && level.masks == chain.masks
               ? std::optional(ScoresStage::Masked)
               : std::nullopt;
  if (level.biased)
    return ScoresStage::Biased;
  if (level.functions)
    return modified ? std::optional(ScoresStage::Modified) : std::nullopt;
  if (level.factor == 1 && (chain.factor != 1 || chain.operandFactor == 1))
    return ScoresStage::Raw;
  return scaled ? std::optional(ScoresStage::Scaled) : std::nullopt;
}

/// Whether `use` stays after all ops in `fused` are gone. Steps read scores and
/// weights by their first operand, a difference by its first two; by others
/// they may read another attention.
static bool isOutside(OpOperand &use, const DenseSet<Operation *> &fused) {
  unsigned read = isa<SubtractWeightsOp>(use.getOwner()) ? 2 : 1;
  return use.getOperandNumber() >= read || !fused.contains(use.getOwner());
}

/// The users of `value` that stay after all ops in `fused` are gone.
static SmallVector<Operation *>
usersOutside(Value value, const DenseSet<Operation *> &fused) {
  SmallVector<Operation *> users;
  for (OpOperand &use : value.getUses())
    if (isOutside(use, fused))
      users.push_back(use.getOwner());
  return users;
}

/// The operands that the attn.sdpa will have.
static SmallVector<Value> operandsOf(Chain &chain, const Plan &plan) {
  SmallVector<Value> operands(chain.maskOperands);
  bool keep = plan.keepOperandScales;
  operands.append({keep ? chain.scores.getQuery() : chain.query,
                   keep ? chain.scores.getKey() : chain.key,
                   chain.context.getValue()});
  if (chain.bias)
    operands.push_back(chain.bias);
  if (chain.dropout)
    operands.push_back(chain.seed());
  if (chain.sinks())
    operands.push_back(chain.sinks());
  llvm::append_range(operands, operandsOfScoreSteps(chain.functions));
  return operands;
}

/// Looks for a place where all operands are there and no user has been yet:
/// that of the context, or else right behind the last operand.
static std::optional<Refusal> findPlace(Chain &chain, Plan &plan,
                                        ArrayRef<Operation *> users,
                                        const DenseSet<Operation *> &fused,
                                        DominanceInfo &dominance) {
  Operation *context = chain.context;
  if (llvm::all_of(users, [&](Operation *user) {
        return dominance.properlyDominates(context, user);
      }))
    return std::nullopt;

  Block *block = context->getBlock();
  Operation *last = nullptr;
  bool stable = true; // no operand moves when another attention is fused
  for (Value operand : operandsOf(chain, plan)) {
    Operation *op = operand.getDefiningOp();
    if (!op || op->getBlock() != block)
      continue;
    stable &= !isa<ScoresOp>(op) && !fused.contains(op);
    if (!last || last->isBeforeInBlock(op))
      last = op;
  }
  plan.atContext = false;
  plan.insertAfter = last;
  for (Operation *user : users) {
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    bool after = ancestor ? !last || last->isBeforeInBlock(ancestor)
                          : dominance.properlyDominates(context, user);
    if (!after || !stable)
      return Refusal{user, nameOf(user) +
                               " reads an intermediate before all "
                               "operands of the attention are there"};
  }
  return std::nullopt;
}

/// Of two maps nothing is returned but out.
static std::optional<Refusal>
decideDifference(Chain &chain, const DenseSet<Operation *> &fused,
                 const DenseSet<Value> &claimed) {
  SmallVector<Value> intermediates;
  for (Chain *map : {&chain, chain.second.get()}) {
    for (const Level &level : map->levels)
      intermediates.push_back(level.scores);
    intermediates.push_back(map->weights());
  }
  intermediates.push_back(chain.difference.getWeights());
  for (Value value : intermediates)
    if (!claimed.contains(value) && !usersOutside(value, fused).empty())
      return Refusal{value.getDefiningOp(),
                     "the result of " + nameOf(value.getDefiningOp()) +
                         " has other uses, but attn.sdpa with two maps returns "
                         "out only"};
  return std::nullopt;
}

/// Decides which intermediates the fused op returns and where it goes. `fused`
/// are the ops that will be gone, `claimed` the values that another attn.sdpa
/// returns already.
static std::optional<Refusal> decide(Chain &chain, Plan &plan,
                                     const DenseSet<Operation *> &fused,
                                     const DenseSet<Value> &claimed,
                                     DominanceInfo &dominance) {
  plan = Plan();
  if (chain.dropout && !usersOutside(chain.dropout.getResult(), fused).empty())
    return Refusal{chain.dropout,
                   "the result of attn.dropout has other uses, but attn.sdpa "
                   "returns the weights in front of it"};
  if (chain.second)
    return decideDifference(chain, fused, claimed);
  Value weights = chain.weights();
  SmallVector<Operation *> users;
  if (!claimed.contains(weights))
    users = usersOutside(weights, fused);
  plan.weights = !users.empty();
  for (const Level &level : chain.levels) {
    SmallVector<Operation *> outside;
    if (!claimed.contains(level.scores))
      outside = usersOutside(level.scores, fused);
    if (outside.empty())
      continue;
    Operation *op = level.scores.getDefiningOp();
    if (plan.returned)
      return Refusal{op, "the results of " +
                             nameOf(plan.returned.getDefiningOp()) + " and " +
                             nameOf(op) +
                             " both have other uses; attn.sdpa returns scores "
                             "of one stage"};
    plan.stage = stageOf(level, chain);
    if (!plan.stage)
      return Refusal{op, "the result of " + nameOf(op) +
                             " has other uses, but attn.sdpa applies scale, "
                             "score function, bias and mask in this order and "
                             "never has these scores"};
    plan.returned = level.scores;
    llvm::append_range(users, outside);
  }
  plan.keepOperandScales =
      plan.stage == ScoresStage::Raw && chain.operandFactor != 1;
  return findPlace(chain, plan, users, fused, dominance);
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// `attn.scores, attn.scale, attn.softmax, `.
static std::string stepNames(const Chain &map) {
  std::string names = "attn.scores, ";
  for (Operation *step : map.steps)
    names += nameOf(step) + ", ";
  return names + nameOf(map.normalization) + ", ";
}

static void remarkFused(const Chain &chain) {
  std::string names = stepNames(chain);
  if (chain.second)
    names += stepNames(*chain.second) + "attn.subtract_weights, ";
  if (chain.dropout)
    names += "attn.dropout, ";
  remark::passed(chain.context->getLoc(),
                 remark::RemarkOpts::name("Fused").category("attn-fuse"))
      << "fused " + names + "attn.context";
}

/// Makes the attn.sdpa of a chain and gives it the uses outside of `fused`.
/// The steps stay, unused, until all chains are fused.
static void fuse(Chain &chain, const Plan &plan,
                 const DenseSet<Operation *> &fused, IRRewriter &rewriter) {
  ContextOp context = chain.context;
  if (plan.atContext)
    rewriter.setInsertionPoint(context);
  else if (plan.insertAfter)
    rewriter.setInsertionPointAfter(plan.insertAfter);
  else
    rewriter.setInsertionPointToStart(context->getBlock());

  bool keep = plan.keepOperandScales;
  double scale = keep ? chain.factor : chain.factor * chain.operandFactor;
  Type weights = plan.weights ? chain.weights().getType() : Type();
  Type scores = plan.returned ? plan.returned.getType() : Type();
  MLIRContext *mlir = context.getContext();
  auto layout = LayoutAttr::get(mlir, Layout::HeadMajor);
  Normalization normalization = isa<SigmoidOp>(chain.normalization)
                                    ? Normalization::Sigmoid
                                    : Normalization::Softmax;
  auto stage =
      plan.stage ? ScoresStageAttr::get(mlir, *plan.stage) : ScoresStageAttr();
  SmallVector<Value> captures =
      captureScoreSteps(rewriter, chain.functions, chain.query, chain.key);
  Chain *second = chain.second.get();
  auto sdpa = SdpaOp::create(
      rewriter, context.getLoc(), context.getType(), /*lse=*/Type(), weights,
      scores, /*maximum=*/Type(), /*sum=*/Type(), /*acc=*/Type(),
      keep ? chain.scores.getQuery() : chain.query,
      keep ? chain.scores.getKey() : chain.key, context.getValue(), chain.bias,
      chain.maskOperands, captures, chain.sinks(),
      second ? second->query : Value(), second ? second->key : Value(),
      second ? chain.difference.getLambda() : Value(), chain.seed(),
      rewriter.getF64FloatAttr(scale), chain.mask, chain.probability(), layout,
      layout, layout, layout, NormalizationAttr::get(mlir, normalization),
      stage,
      /*schedule=*/ScheduleInterface(),
      /*decode_schedule=*/ScheduleInterface());
  buildScoreFunction(sdpa, chain.functions);
  rewriter.replaceAllUsesWith(context.getOut(), sdpa.getOut());
  auto outside = [&](OpOperand &use) { return isOutside(use, fused); };
  if (plan.weights)
    rewriter.replaceUsesWithIf(chain.weights(), sdpa.getWeights(), outside);
  if (plan.returned)
    rewriter.replaceUsesWithIf(plan.returned, sdpa.getScores(), outside);
  remarkFused(chain);
}

static void refuse(ContextOp context, const Refusal &refusal) {
  remark::missed(refusal.at->getLoc(),
                 remark::RemarkOpts::name("NotFused").category("attn-fuse"))
      << "not fused: " + refusal.reason;
  context->setAttr("attn.not_fused",
                   StringAttr::get(context.getContext(), refusal.reason));
}

/// What reads scores or weights in front of the context, and what follows from
/// that, moves behind it, unless the context itself follows from it.
static void moveReadersBehind(Chain &chain,
                              const DenseSet<Operation *> &fused) {
  Operation *context = chain.context;
  Block *block = context->getBlock();
  SmallVector<Operation *> readers = usersOutside(chain.weights(), fused);
  for (const Level &level : chain.levels)
    llvm::append_range(readers, usersOutside(level.scores, fused));
  ForwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) {
    return op->getBlock() == block && op->isBeforeInBlock(context);
  };
  for (Operation *reader : readers) {
    SetVector<Operation *> slice;
    getForwardSlice(reader, &slice, options);
    if (llvm::any_of(slice, [&](Operation *op) {
          return fused.contains(op) || !isMemoryEffectFree(op) ||
                 llvm::any_of(op->getUsers(), [&](Operation *user) {
                   user = block->findAncestorOpInBlock(*user);
                   return user && !context->isBeforeInBlock(user) &&
                          !slice.contains(user);
                 });
        }))
      continue;
    SmallVector<Operation *> ops = slice.takeVector();
    llvm::sort(ops, [](auto *a, auto *b) { return b->isBeforeInBlock(a); });
    for (Operation *op : ops)
      op->moveAfter(context);
  }
}

/// Drops chains from `chains` until all that are left can be fused together.
static SmallVector<Plan, 0> decideAll(SmallVector<Chain, 0> &chains,
                                      DominanceInfo &dominance) {
  while (true) {
    SmallVector<Plan, 0> plans(chains.size());
    DenseSet<Operation *> fused = readersIn(chains);
    DenseSet<Value> claimed;
    size_t i = 0;
    for (; i < chains.size(); ++i) {
      if (std::optional<Refusal> refusal =
              decide(chains[i], plans[i], fused, claimed, dominance)) {
        refuse(chains[i].context, *refusal);
        break;
      }
      if (plans[i].weights)
        claimed.insert(chains[i].weights());
      if (plans[i].returned)
        claimed.insert(plans[i].returned);
    }
    if (i == chains.size())
      return plans;
    chains.erase(chains.begin() + i);
  }
}

namespace {
struct FuseAttention : attn::impl::FuseAttentionBase<FuseAttention> {
  void runOnOperation() override {
    SmallVector<Chain, 0> chains;
    getOperation()->walk([&](ContextOp context) {
      context->removeAttr("attn.not_fused");
      Chain chain;
      if (std::optional<Refusal> refusal = readChain(context, chain))
        refuse(context, *refusal);
      else
        chains.push_back(std::move(chain));
    });
    for (Chain &chain : chains)
      if (!chain.second)
        moveReadersBehind(chain, readersIn(chains));
    SmallVector<Plan, 0> plans =
        decideAll(chains, getAnalysis<DominanceInfo>());

    IRRewriter rewriter(&getContext());
    DenseSet<Operation *> fused = readersIn(chains);
    SetVector<Operation *> ops;
    for (auto [decided, plan] : llvm::zip(chains, plans)) {
      // An operand may be the result of an attention fused by now: read again.
      Chain chain;
      if (std::optional<Refusal> refusal = readChain(decided.context, chain)) {
        refuse(decided.context, *refusal);
        continue;
      }
      fuse(chain, plan, fused, rewriter);
      collectOps(chain, ops);
    }
    for (Operation *op : llvm::reverse(ops.getArrayRef()))
      if (op->use_empty())
        rewriter.eraseOp(op);
    getOperation()->walk([&](SdpaOp op) { dropUnreadResults(op, rewriter); });
  }
};
} // namespace
