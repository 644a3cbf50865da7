// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-describe-ports: what a caller must know about a function's arguments.
//
//   func.func @f(%q: tensor<?x?x64xf32> {attn.name = "q"}, ..)
// gets
//   attn.ports = [{name = "q", type = tensor<?x?x64xf32>, input = true,
//                  symbols = ["q0", "q1", ""], sizes = array<i64: -1, -1, 64>},
//                 ..]
//
// Two dimensions that must have the same size get the same symbol, named after
// its first use in the order of the arguments. Which must be the same follows
// from the ops: a union-find over all dimensions of all tensors of the function
// collects what each op requires. A dimension that must equal a static size has
// that size and no symbol, although its type may not know it.
//
// Before: ops of the graph and the fused level. After: the same. Not handled:
// numbers of query and key heads that are both unknown; attn-check-target
// refuses them.
#include "SizeClasses.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/IR/MaskTerms.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

namespace attn {
#define GEN_PASS_DEF_DESCRIBEPORTS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// Ranks that attn_tensor can hold (ATTN_MAX_RANK).
constexpr int64_t maxRank = 6;

/// Collects what one op after the other requires.
class Requirements {
public:
  explicit Requirements(SizeClasses &classes) : classes(classes) {}
  void collect(Operation *op);

private:
  static int64_t rank(Value value) {
    return cast<RankedTensorType>(value.getType()).getRank();
  }
  void same(Value a, int64_t i, Value b, int64_t j) {
    if (i >= 0 && j >= 0)
      classes.unify(op, {a, i}, {b, j});
  }
  void sameShape(Value a, Value b) {
    for (int64_t i = 0; i < rank(a); ++i)
      same(a, i, b, i);
  }
  /// `small` broadcasts to `large` from the right: its sizes are 1 or equal.
  void broadcast(Value small, Value large);
  void alongScores(Value value, int64_t dims, int64_t shift,
                   ArrayRef<Dim> scores);
  void maskOperands(Attribute mask, OperandRange operands,
                    ArrayRef<Dim> scores);
  void visit(ScoresOp op);
  void visit(SubtractWeightsOp op);
  void visit(ContextOp op);
  void visit(ProjectOp op);
  void visit(SdpaOp op);
  void perHead(Value numbers, Value scores);
  void lambda(Value numbers, Dim heads);
  void visitDetails(SoftmaxOp op) { perHead(op.getSinks(), op.getScores()); }
  void visitDetails(AlibiOp op);
  void visitDetails(RopeOp op);
  void visitDetails(RmsNormOp op);
  void visitDetails(Operation *) {}
  void heads(Value joined, Value split);
  void slice(tensor::ExtractSliceOp op);

  SizeClasses &classes;
  Operation *op = nullptr;
};
} // namespace

void Requirements::broadcast(Value small, Value large) {
  auto type = cast<RankedTensorType>(small.getType());
  int64_t shift = rank(large) - type.getRank();
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.getDimSize(i) != 1)
      same(small, i, large, i + shift);
}

void Requirements::visit(ScoresOp op) {
  Value q = op.getQuery(), k = op.getKey(), s = op.getScores();
  int64_t r = rank(s);
  if (r == 4)
    same(q, 0, k, 0);
  for (int64_t i = 0; i < r - 1; ++i)
    same(q, i, s, i);
  same(k, r - 2, s, r - 1);
  same(q, r - 1, k, r - 1);
}

void Requirements::visit(ContextOp op) {
  Value w = op.getWeights(), v = op.getValue(), o = op.getOut();
  int64_t r = rank(w);
  if (r == 4)
    same(w, 0, v, 0);
  for (int64_t i = 0; i < r - 1; ++i)
    same(w, i, o, i);
  same(w, r - 1, v, r - 2);
  same(v, r - 1, o, r - 1);
}

void Requirements::visit(ProjectOp op) {
  Value x = op.getInput(), w = op.getWeight(), y = op.getResult();
  int64_t last = rank(x) - 1;
  for (int64_t i = 0; i < last; ++i)
    same(x, i, y, i);
  same(x, last, w, 0);
  same(w, 1, y, last);
  if (op.getBias())
    same(op.getBias(), 0, w, 1);
}

/// One number per head, if there are any.
void Requirements::perHead(Value numbers, Value scores) {
  if (numbers)
    same(numbers, 0, scores, rank(scores) - 3);
}

/// One number, or one per head.
void Requirements::lambda(Value numbers, Dim heads) {
  auto type = cast<RankedTensorType>(numbers.getType());
  if (type.getRank() == 1 && type.getDimSize(0) != 1)
    same(numbers, 0, heads.first, heads.second);
}

void Requirements::visit(SubtractWeightsOp op) {
  Value weights = op.getWeights();
  sameShape(op.getFirst(), weights);
  sameShape(op.getSecond(), weights);
  lambda(op.getLambda(), {weights, rank(weights) - 3});
}

void Requirements::visitDetails(AlibiOp op) {
  perHead(op.getSlopes(), op.getScores());
  if (op.getOffset())
    alongScores(op.getOffset(), rank(op.getOffset()), 0,
                Dim{op.getScores(), 0});
}

void Requirements::visitDetails(RopeOp op) {
  Value x = op.getInput(), positions = op.getPositions();
  same(op.getCos(), 0, op.getSin(), 0);
  if (!positions)
    return;
  same(positions, rank(positions) - 1, x, rank(x) - 2);
  if (rank(positions) == 2)
    same(positions, 0, x, 0);
}

void Requirements::visitDetails(RmsNormOp op) {
  if (op.getWeight())
    same(op.getWeight(), 0, op.getInput(), rank(op.getInput()) - 1);
}

/// joined (.., S, H*D) and split (.., H, S, D): H and D are static.
void Requirements::heads(Value joined, Value split) {
  int64_t r = rank(split);
  same(joined, r - 3, split, r - 2);
  if (r == 4)
    same(joined, 0, split, 0);
}

/// A size that is asked of another tensor is the size of that.
void Requirements::slice(tensor::ExtractSliceOp op) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  int64_t next = 0;
  for (auto [dim, size] : llvm::enumerate(op.getMixedSizes())) {
    if (dropped.test(dim))
      continue;
    auto value = dyn_cast<Value>(size);
    auto of = value ? value.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
    if (of && of.getConstantIndex() &&
        isa<RankedTensorType>(of.getSource().getType()))
      same(op.getResult(), next, of.getSource(), *of.getConstantIndex());
    ++next;
  }
}

/// The first `dims` sizes of `value` are 1 or those of the scores, `shift`
/// dimensions further to the right.
void Requirements::alongScores(Value value, int64_t dims, int64_t shift,
                               ArrayRef<Dim> scores) {
  auto type = cast<RankedTensorType>(value.getType());
  for (int64_t i = 0; i < dims; ++i)
    if (type.getDimSize(i) != 1)
      classes.unify(op, {value, i}, scores[i + shift]);
}

void Requirements::maskOperands(Attribute mask, OperandRange operands,
                                ArrayRef<Dim> scores) {
  int64_t scoresRank = static_cast<int64_t>(scores.size());
  /// A row per query or key, or several by the leading dimension.
  auto row = [&](Value tensor, std::optional<Dim> size) {
    int64_t last = rank(tensor) - 1;
    alongScores(tensor, last, 0, scores);
    if (size)
      classes.unify(op, {tensor, last}, *size);
  };
  for (Attribute leaf : leafTerms(mask)) {
    auto each = [&](auto visit) {
      for (unsigned position : cast<MaskTermInterface>(leaf).operandPositions())
        visit(operands[position]);
    };
    auto given = [&](OperandAttr operand) {
      return operands[operand.getPosition()];
    };
    llvm::TypeSwitch<Attribute>(leaf)
        .Case([&](AllowedAttr) {
          each([&](Value v) {
            alongScores(v, rank(v), scoresRank - rank(v), scores);
          });
        })
        .Case([&](BlockAttr) {
          each([&](Value v) {
            alongScores(v, rank(v) - 2, scoresRank - rank(v), scores);
          });
        })
        .Case([&](TreeAttr tree) { row(given(tree.getOperand()), {}); })
        .Case([&](DocumentAttr document) {
          if (document.getCumulative()) {
            same(given(document.getQueries()), 0, given(document.getKeys()), 0);
            return;
          }
          row(given(document.getQueries()), scores[scoresRank - 2]);
          row(given(document.getKeys()), scores[scoresRank - 1]);
        })
        .Case([](PredicateAttr) {}) // reads where it likes
        .Default([&](Attribute) {   // one integer per batch entry
          each([&](Value v) { alongScores(v, rank(v), 0, scores); });
        });
  }
}

void Requirements::visit(SdpaOp op) {
  Value query = op.getQuery(), key = op.getKey(), value = op.getValue(),
        out = op.getOut();
  SdpaOp::Dims q = op.queryDims(), k = op.keyDims(), v = op.valueDims(),
               o = op.outDims();
  same(query, q.batch, key, k.batch);
  same(query, q.batch, value, v.batch);
  same(query, q.batch, out, o.batch);
  same(query, q.head, out, o.head);
  same(key, k.head, value, v.head);
  same(query, q.sequence, out, o.sequence);
  same(key, k.sequence, value, v.sequence);
  same(query, q.feature, key, k.feature);
  same(value, v.feature, out, o.feature);

  // Everything else has the shape of the scores, or broadcasts to it.
  SmallVector<Dim> scores;
  for (int dim : {q.batch, q.head, q.sequence})
    if (dim >= 0)
      scores.push_back({query, dim});
  scores.push_back({key, k.sequence});
  int64_t scoresRank = static_cast<int64_t>(scores.size());
  if (op.getBias())
    alongScores(op.getBias(), rank(op.getBias()),
                scoresRank - rank(op.getBias()), scores);
  for (Value result : {op.getLse(), op.getWeights(), op.getScores(),
                       op.getMaximum(), op.getSum()})
    if (result)
      alongScores(result, rank(result), 0, scores);
  if (op.getAcc())
    sameShape(op.getAcc(), out);
  if (op.isDifferential()) {
    sameShape(op.getSecondQuery(), query);
    sameShape(op.getSecondKey(), key);
    lambda(op.getLambda(), {query, q.head});
  }
  maskOperands(op.getMaskAttr(), op.getMaskOperands(), scores);
}

void Requirements::collect(Operation *operation) {
  op = operation;
  llvm::TypeSwitch<Operation *>(op)
      .Case<ScoresOp, SubtractWeightsOp, ContextOp, ProjectOp, SdpaOp>(
          [&](auto graphOp) { visit(graphOp); })
      .Case<ScaleOp, SoftmaxOp, SigmoidOp, SoftcapOp, ScoreModOp, AlibiOp,
            RopeOp, RmsNormOp>([&](auto step) {
        sameShape(step->getOperand(0), step->getResult(0));
        visitDetails(step);
      })
      .Case([&](BiasOp bias) {
        sameShape(bias.getScores(), bias.getResult());
        broadcast(bias.getBias(), bias.getScores());
      })
      .Case([&](MaskOp mask) {
        sameShape(mask.getScores(), mask.getResult());
        SmallVector<Dim> scores;
        for (int64_t i = 0; i < rank(mask.getScores()); ++i)
          scores.push_back({mask.getScores(), i});
        maskOperands(mask.getMask(), mask.getMaskOperands(), scores);
      })
      .Case<MergeStatesOp, FinalizeStateOp>([&](auto state) {
        // An element per row, or per element of a row.
        SmallVector<Value> tensors(state->getOperands());
        llvm::append_range(tensors, state->getResults());
        for (Value tensor : tensors)
          for (int64_t i = 0; i < rank(tensor); ++i)
            same(tensor, i, state.getAcc(), i);
      })
      .Case([&](SplitHeadsOp split) {
        heads(split.getInput(), split.getResult());
      })
      .Case([&](MergeHeadsOp merge) {
        heads(merge.getResult(), merge.getInput());
      })
      .Case([&](tensor::ExtractSliceOp part) { slice(part); })
      .Case([&](tensor::CastOp cast) {
        if (isa<RankedTensorType>(cast.getSource().getType()) &&
            isa<RankedTensorType>(cast.getType()))
          sameShape(cast.getSource(), cast.getResult());
      })
      .Case([&](linalg::TransposeOp transpose) {
        if (transpose->getNumResults() == 1)
          for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
            same(transpose.getInput(), from, transpose->getResult(0), to);
      })
      .Default([&](Operation *other) {
        if (!OpTrait::hasElementwiseMappableTraits(other))
          return;
        for (Value operand : other->getOperands())
          if (isa<RankedTensorType>(operand.getType()) &&
              isa<RankedTensorType>(other->getResult(0).getType()))
            sameShape(operand, other->getResult(0));
      });
}

namespace {
struct DescribePorts : attn::impl::DescribePortsBase<DescribePorts> {
  LogicalResult checkName(func::FuncOp function);
  LogicalResult checkType(Location loc, StringRef what, StringRef name,
                          Type type);
  LogicalResult describe(func::FuncOp function);

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal() &&
          failed(describe(function)))
        return signalPassFailure();
  }
};

/// Names dimensions in the order of their first use.
struct PortWriter {
  SizeClasses &classes;
  Builder builder;
  llvm::DenseMap<unsigned, std::string> symbols{};

  DictionaryAttr describe(StringRef name, Value value, bool input) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<Attribute> names;
    SmallVector<int64_t> sizes;
    for (int64_t i = 0; i < type.getRank(); ++i) {
      int64_t size = classes.sizeOf({value, i});
      sizes.push_back(size);
      std::string symbol;
      if (size < 0)
        symbol =
            symbols
                .try_emplace(classes.find({value, i}), (name + Twine(i)).str())
                .first->second;
      names.push_back(builder.getStringAttr(symbol));
    }
    return builder.getDictionaryAttr(
        {builder.getNamedAttr("name", builder.getStringAttr(name)),
         builder.getNamedAttr("type", TypeAttr::get(type)),
         builder.getNamedAttr("input", builder.getBoolAttr(input)),
         builder.getNamedAttr("symbols", builder.getArrayAttr(names)),
         builder.getNamedAttr("sizes", builder.getDenseI64ArrayAttr(sizes))});
  }
};
} // namespace

LogicalResult DescribePorts::checkName(func::FuncOp function) {
  StringRef name = function.getName();
  bool isIdentifier =
      !llvm::isDigit(name.front()) &&
      llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  // What the object itself calls, or what an executable begins with.
  bool isTaken = name == "main" || name == "malloc" || name == "free" ||
                 name.starts_with("attn_rt_");
  if (!isIdentifier || isTaken)
    return function.emitError()
           << "expects a public function whose name is a C identifier other "
              "than main, malloc, free and attn_rt_*, but got '"
           << name << "'";
  for (StringRef suffix : {"_workspace_size", "_strerror", "_info", "_flops"})
    if (function->getParentOfType<ModuleOp>().lookupSymbol(
            (name + suffix).str()))
      return function.emitError()
             << "expects no other '" << name << suffix
             << "' in the module, because that is a C function of '" << name
             << "'";
  if (!function.getBody().hasOneBlock())
    return function.emitError()
           << "expects a function without branches, but got several blocks";
  if (function.getNumResults() == 0)
    return function.emitError() << "expects a function with a result";
  return success();
}

LogicalResult DescribePorts::checkType(Location loc, StringRef what,
                                       StringRef name, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return emitError(loc) << "expects " << what << " '" << name
                          << "' to be a ranked tensor, but got " << type;
  if (tensor.getRank() > maxRank)
    return emitError(loc) << "expects " << what << " '" << name
                          << "' to have at most " << maxRank
                          << " dimensions, but got " << type;
  Type element = tensor.getElementType();
  if (!element.isF32() && !element.isF64() && !element.isF16() &&
      !element.isBF16() && !element.isInteger(1) && !element.isInteger(32) &&
      !element.isInteger(64))
    return emitError(loc) << "expects elements of " << what << " '" << name
                          << "' to be f32, f64, f16, bf16, i1, i32 or i64, but "
                             "got "
                          << element;
  return success();
}

static std::string nameOf(BlockArgument argument) {
  unsigned i = argument.getArgNumber();
  auto given = cast<func::FuncOp>(argument.getOwner()->getParentOp())
                   .getArgAttrOfType<StringAttr>(i, "attn.name");
  return given ? given.str() : "arg" + std::to_string(i);
}

/// A result of a function that only merges states may be either one's memory.
static Attribute withOverlap(Builder &b, DictionaryAttr port, Value result) {
  auto merge = result.getDefiningOp<MergeStatesOp>();
  if (!merge || !llvm::hasNItems(*merge->getBlock(), 2))
    return port;
  unsigned place = cast<OpResult>(result).getResultNumber();
  SmallVector<Attribute> names;
  for (unsigned operand : {place, place + 3})
    if (auto argument = dyn_cast<BlockArgument>(merge->getOperand(operand)))
      names.push_back(b.getStringAttr(nameOf(argument)));
  NamedAttrList entries(port);
  entries.set("overlaps", b.getArrayAttr(names));
  return entries.getDictionary(b.getContext());
}

LogicalResult DescribePorts::describe(func::FuncOp function) {
  if (failed(checkName(function)))
    return failure();
  SizeClasses classes;
  Requirements requirements(classes);
  function.walk([&](Operation *op) { requirements.collect(op); });
  if (classes.failed)
    return failure();

  PortWriter writer{classes, Builder(&getContext())};
  SmallVector<Attribute> ports;
  for (BlockArgument argument : function.getArguments()) {
    std::string name = nameOf(argument);
    Type type = argument.getType();
    if (failed(checkType(argument.getLoc(), "argument", name, type)))
      return failure();
    ports.push_back(writer.describe(name, argument, /*input=*/true));
  }
  size_t known = writer.symbols.size();
  Operation *end = function.front().getTerminator();
  for (auto [i, value] : llvm::enumerate(end->getOperands())) {
    auto given = function.getResultAttrOfType<StringAttr>(i, "attn.name");
    std::string name = given ? given.str() : "out" + std::to_string(i);
    if (failed(checkType(end->getLoc(), "result", name, value.getType())))
      return failure();
    auto port = writer.describe(name, value, /*input=*/false);
    ports.push_back(withOverlap(writer.builder, port, value));
    if (writer.symbols.size() != known)
      return end->emitError()
             << "result '" << name << "' of type " << value.getType()
             << " has a size that no argument tells";
  }
  function->setAttr("attn.ports", writer.builder.getArrayAttr(ports));
  return success();
}
