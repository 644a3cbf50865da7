// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-return-steps: a second function returns what a picture of the attention
// shows.
//
//   func.func @f(%q, %k, %v) -> .. {
//     %o = attn.sdpa %q, %k, %v scale 0.125 where causal(top_left)
//     return %o
//   }
// stays, and gets beside it
//   func.func @f_steps(%q, %k, %v) -> .. attributes {attn.picture = ..} {
//     %o, %w, %raw = attn.sdpa .. returning(out, weights, scores raw)
//     %o1, %scaled = attn.sdpa .. returning(out, scores scaled)
//     %o2, %masked = attn.sdpa .. returning(out, scores masked)
//     return %o, %w, %raw, %scaled, %masked
//   }
//
// One attn.sdpa returns scores of one stage, so there are as many as there are
// stages that differ: without a scale or a mask, fewer. What is computed in
// front of the attention, say projections, is computed once; what stands behind
// it is left out. A query, key or value that is no argument is returned, too.
//
// So every number of a picture is one that a kernel computed, and the function
// itself keeps its kernels.
//
// Before: attn-fuse has run. After: the same, and a second public function.
// Refused at the function: none or several attentions, one in a loop, two maps
// (differential attention), sinks, which the page's formula of softmax has not,
// dropout, and tokens in front of heads (layout bshd). A function with an
// attention that was not fused is left to attn-check-target, which refuses it.
#include "attn-rt/picture.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace attn {
#define GEN_PASS_DEF_RETURNSTEPS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Why a picture cannot show `op`; empty if it can.
static StringRef whyNotShown(SdpaOp op, func::FuncOp function) {
  if (op->getBlock() != &function.front())
    return "stands in a loop";
  if (op.isDifferential())
    return "has two maps (differential attention)";
  if (op.getSinks())
    return "has sinks";
  if (op.getSeed())
    return "drops weights";
  for (Layout layout : {op.getQueryLayout(), op.getKeyLayout(),
                        op.getValueLayout(), op.getOutLayout()})
    if (layout != Layout::HeadMajor)
      return "has tokens in front of heads (layout bshd)";
  return "";
}

/// `op` with other results beside out: weights, and scores of a stage.
static SdpaOp cloneReturning(SdpaOp op, bool weights, ScoresStage stage) {
  OpBuilder b(op);
  MLIRContext *context = op.getContext();
  Type pairs = RankedTensorType::get(
      op.scoresShape(), op.getQuery().getType().getElementType().isF64()
                            ? b.getF64Type()
                            : b.getF32Type());
  auto layout = [&](Layout which) { return LayoutAttr::get(context, which); };
  auto made = SdpaOp::create(
      b, op.getLoc(), op.getOut().getType(), /*lse=*/Type(),
      weights ? pairs : Type(), pairs, /*maximum=*/Type(), /*sum=*/Type(),
      /*acc=*/Type(), op.getQuery(), op.getKey(), op.getValue(), op.getBias(),
      op.getMaskOperands(), op.getCaptures(), /*sinks=*/Value(),
      /*second_query=*/Value(), /*second_key=*/Value(), /*lambda=*/Value(),
      /*seed=*/Value(), op.getScaleAttr(), op.getMaskAttr(),
      /*dropout=*/FloatAttr(), layout(op.getQueryLayout()),
      layout(op.getKeyLayout()), layout(op.getValueLayout()),
      layout(op.getOutLayout()), op.getNormalizationAttr(),
      ScoresStageAttr::get(context, stage), /*schedule=*/ScheduleInterface(),
      /*decode_schedule=*/ScheduleInterface());
  IRMapping mapping;
  op.getScoreFunction().cloneInto(&made.getScoreFunction(), mapping);
  return made;
}

namespace {
/// The results of the function of steps.
class Steps {
public:
  explicit Steps(func::FuncOp function) : function(function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (auto name = function.getArgAttrOfType<StringAttr>(i, nameAttr))
        names.insert(name);
  }

  /// `value` is what the picture calls `step`.
  void add(attn_rt_step step, Value value, StringRef name);
  /// A value that nothing shows; without a use it would not be computed.
  void keep(Value value) { returned.try_emplace(value, "out"); }
  /// Makes them all that the function returns.
  void finish(SdpaOp op);

private:
  static constexpr StringLiteral nameAttr = "attn.name";

  func::FuncOp function;
  llvm::StringSet<> names;
  llvm::MapVector<Value, StringRef> returned;
  Value steps[ATTN_RT_NUM_STEPS];
};
} // namespace

void Steps::add(attn_rt_step step, Value value, StringRef name) {
  steps[step] = value;
  if (!llvm::is_contained(function.getArguments(), value))
    returned.try_emplace(value, name);
}

void Steps::finish(SdpaOp op) {
  Builder b(op.getContext());
  Operation *end = function.front().getTerminator();
  SmallVector<Value> results =
      llvm::to_vector(llvm::make_first_range(returned));
  end->setOperands(results);
  function.removeResAttrsAttr();
  function.setType(b.getFunctionType(function.getArgumentTypes(),
                                     ValueRange(results).getTypes()));
  for (auto [i, name] : llvm::enumerate(llvm::make_second_range(returned))) {
    std::string unique = name.str();
    for (unsigned n = 1; !names.insert(unique).second; ++n)
      unique = (name + "_" + Twine(n)).str();
    function.setResultAttr(i, nameAttr, b.getStringAttr(unique));
  }
  SmallVector<int64_t> ports;
  for (Value step : steps) {
    auto argument = dyn_cast<BlockArgument>(step);
    ports.push_back(argument ? argument.getArgNumber()
                             : function.getNumArguments() +
                                   std::distance(results.begin(),
                                                 llvm::find(results, step)));
  }
  auto normalization = op.getNormalizationAttr();
  if (!normalization)
    normalization =
        NormalizationAttr::get(b.getContext(), Normalization::Softmax);
  function->setAttr(
      PictureAttr::functionAttr,
      PictureAttr::get(b.getContext(), b.getDenseI64ArrayAttr(ports),
                       op.getScaleAttr(), normalization, 0, 0, ""));
  SmallVector<Operation *> ops = llvm::map_to_vector(
      function.front().without_terminator(), [](Operation &op) { return &op; });
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
}

/// Makes the copy `function` return the steps of its attention `op`.
static void returnSteps(func::FuncOp function, SdpaOp op) {
  Steps steps(function);
  steps.add(ATTN_RT_QUERY, op.getQuery(), "query");
  steps.add(ATTN_RT_KEY, op.getKey(), "key");
  steps.add(ATTN_RT_VALUE, op.getValue(), "value");
  SdpaOp raw = cloneReturning(op, /*weights=*/true, ScoresStage::Raw);
  steps.add(ATTN_RT_OUT, raw.getOut(), "out");
  steps.add(ATTN_RT_WEIGHTS, raw.getWeights(), "weights");
  Value scores = raw.getScores();
  auto stage = [&](ScoresStage which, bool differs) {
    if (!differs)
      return scores;
    SdpaOp made = cloneReturning(op, /*weights=*/false, which);
    steps.keep(made.getOut());
    return scores = made.getScores();
  };
  steps.add(ATTN_RT_SCORES, scores, "scores");
  bool isScaled = op.getScale().convertToDouble() != 1;
  steps.add(ATTN_RT_SCALED, stage(ScoresStage::Scaled, isScaled), "scaled");
  bool isChanged =
      op.getMaskAttr() || op.getBias() || !op.getScoreFunction().empty();
  steps.add(ATTN_RT_MASKED, stage(ScoresStage::Masked, isChanged), "masked");
  steps.finish(op);
}

namespace {
struct ReturnSteps : attn::impl::ReturnStepsBase<ReturnSteps> {
  LogicalResult runOn(func::FuncOp function) {
    SmallVector<SdpaOp> attentions;
    bool isFused = true;
    function.walk([&](Operation *op) {
      if (auto sdpa = dyn_cast<SdpaOp>(op))
        attentions.push_back(sdpa);
      isFused &= !isa<ContextOp>(op);
    });
    if (!isFused)
      return success();
    if (attentions.size() != 1)
      return function.emitError()
             << "expects one attention in '" << function.getName()
             << "' to make a picture of, but got " << attentions.size();
    SdpaOp op = attentions.front();
    if (StringRef why = whyNotShown(op, function); !why.empty())
      return op.emitOpError() << why << ", which no picture shows";
    OpBuilder b(function.getContext());
    b.setInsertionPointAfter(function);
    IRMapping mapping;
    auto copy = cast<func::FuncOp>(b.clone(*function, mapping));
    std::string name = (function.getName() + "_steps").str();
    while (getOperation().lookupSymbol(name))
      name += "_";
    copy.setName(name);
    returnSteps(copy, mapping.lookup(op.getOut()).getDefiningOp<SdpaOp>());
    return success();
  }

  void runOnOperation() override {
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (function.isPublic() && !function.isExternal() &&
          failed(runOn(function)))
        return signalPassFailure();
  }
};
} // namespace
