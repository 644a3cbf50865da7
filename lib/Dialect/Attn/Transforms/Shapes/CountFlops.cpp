// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How much arithmetic a result needs: for benchmarks and `--repeat`.
//
// Before:  func.func @mha(%q, %k, %v) -> .. { attn.sdpa .. where causal(..) }
// After:   and func.func @mha.flops(%q, %k, %v) -> f64 {
//            // visible pairs * 2 * (key dim + value dim), per batch, head, map
//          }
//
// Only visible pairs count. The mask analysis gives the keys of a row in closed
// form; what a term looks up in a table is asked pair by pair, within what the
// other terms see. Rows are counted once for all heads or batch entries that
// the mask does not tell apart. A mask that reads what the function itself
// computes counts as one that sees every pair: its values are only there while
// the kernel runs. A projection counts 2 * rows * inputs * outputs. A gradient
// counts the products that those by which it is asked for need: of query, key
// and value 2 * (3 * key dim + 2 * value dim) per visible pair.
//
// Before: the fused level. After: every public function has its @NAME.flops.
#include "EntryFunctions.h"
#include "Masks/ItemMask.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Attn/Utils/MaskLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"
#include <map>

namespace attn {
#define GEN_PASS_DEF_COUNTFLOPS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Whether the mask reads a tensor that is no part of an argument.
static bool readsComputed(SdpaOp op) {
  return llvm::any_of(op.getMaskOperands(), [](Value operand) {
    while (Operation *maker = operand.getDefiningOp()) {
      if (maker->hasTrait<OpTrait::ConstantLike>())
        return false;
      if (!isa<tensor::ExtractSliceOp, tensor::CastOp, tensor::ExpandShapeOp>(
              maker))
        return true;
      operand = maker->getOperand(0);
    }
    return false;
  });
}

namespace {
struct PairCounter {
  OpBuilder &b;
  Location loc;
  SdpaOp op;

  /// Visible pairs of all batch entries and heads.
  Value count();

  /// The rows and keys of the document that holds one row; all 0 if there is
  /// none.
  struct Document {
    Value firstQuery, endQuery, firstKey, endKey;
  };

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value times(Value x, Value y) { return arith::MulIOp::create(b, loc, x, y); }
  Value size(Value tensor, int dim) {
    return dim < 0 ? index(1)
                   : tensor::DimOp::create(b, loc, tensor, dim).getResult();
  }
  scf::ForOp sumLoop(Value begin, Value end,
                     function_ref<Value(Value i)> body) {
    return scf::ForOp::create(
        b, loc, begin, end, index(1), index(0),
        [&](OpBuilder &, Location, Value i, ValueRange sum) {
          Value next = arith::AddIOp::create(b, loc, sum[0], body(i));
          scf::YieldOp::create(b, loc, next);
        });
  }
  Value sumOfEqual(Value count, function_ref<Value(Value i)> body);
  Document documentOf(DocumentAttr document, const ItemMask &item, Value query);
  void setDocuments(SymbolValues &symbols, const MaskContext &context,
                    const ItemMask &item, Value query);
  Value countOfItem(Value batch, Value head);

  Value queries{}, keys{};
};
} // namespace

Value PairCounter::count() {
  SdpaOp::Dims q = op.queryDims(), k = op.keyDims();
  Value batches = size(op.getQuery(), q.batch),
        heads = size(op.getQuery(), q.head);
  queries = size(op.getQuery(), q.sequence);
  keys = size(op.getKey(), k.sequence);
  if (!op.getMask() || readsComputed(op))
    return times(times(batches, heads), times(queries, keys));
  return sumOfEqual(batches, [&](Value batch) {
    return sumOfEqual(heads,
                      [&](Value head) { return countOfItem(batch, head); });
  });
}

/// The sum of `body` over [0, count): one of them, times their number, if they
/// turn out not to depend on i.
Value PairCounter::sumOfEqual(Value count, function_ref<Value(Value i)> body) {
  Value once = arith::MinSIOp::create(b, loc, count, index(1));
  scf::ForOp loop = sumLoop(index(0), count, body);
  if (!loop.getInductionVar().use_empty())
    return loop.getResult(0);
  loop.setUpperBound(once);
  return times(loop.getResult(0), count);
}

PairCounter::Document PairCounter::documentOf(DocumentAttr document,
                                              const ItemMask &item,
                                              Value query) {
  using Predicate = arith::CmpIPredicate;
  auto border = [&](OperandAttr starts, Value i, Value length) -> Value {
    PairPlace place{item.operands, {}, {}, {}};
    Value at = loadFromRow(b, loc, place, starts, i);
    at = arith::MaxSIOp::create(b, loc, at, index(0));
    return arith::MinSIOp::create(b, loc, at, length);
  };
  Value borders = tensor::DimOp::create(
      b, loc, item.operands[document.getQueries().getPosition()], 0);
  Value zero = index(0), one = index(1);
  auto found = scf::ForOp::create(
      b, loc, one, borders, one, ValueRange{zero, zero, zero, zero},
      [&](OpBuilder &, Location, Value next, ValueRange before) {
        Value i = arith::SubIOp::create(b, loc, next, one);
        Value ends[] = {border(document.getQueries(), i, queries),
                        border(document.getQueries(), next, queries),
                        border(document.getKeys(), i, keys),
                        border(document.getKeys(), next, keys)};
        Value begun =
            arith::CmpIOp::create(b, loc, Predicate::sle, ends[0], query);
        Value open =
            arith::CmpIOp::create(b, loc, Predicate::slt, query, ends[1]);
        Value own = arith::AndIOp::create(b, loc, begun, open);
        SmallVector<Value> chosen;
        for (auto [end, last] : llvm::zip(ends, before))
          chosen.push_back(arith::SelectOp::create(b, loc, own, end, last));
        scf::YieldOp::create(b, loc, chosen);
      });
  ValueRange ends = found.getResults();
  return {ends[0], ends[1], ends[2], ends[3]};
}

static bool isCumulative(Attribute term) {
  auto document = dyn_cast_or_null<DocumentAttr>(term);
  return document && document.getCumulative();
}

/// Gives the symbols of documents their values for one row. What numbers of
/// documents in any order span is not known: all keys, none of them for sure.
void PairCounter::setDocuments(SymbolValues &symbols,
                               const MaskContext &context, const ItemMask &item,
                               Value query) {
  using Role = MaskContext::Role;
  std::map<const void *, Document> known;
  for (auto [i, symbol] : llvm::enumerate(context.symbols())) {
    if (symbol.role == Role::None)
      continue;
    auto term = symbol.term
                    ? Attribute::getFromOpaquePointer(symbol.term)
                    : *llvm::find_if(conjunctionOf(item.mask), isCumulative);
    Document own{index(0), index(0), index(0), keys};
    if (isCumulative(term)) {
      auto [entry, isNew] = known.try_emplace(term.getAsOpaquePointer());
      if (isNew)
        entry->second = documentOf(cast<DocumentAttr>(term), item, query);
      own = entry->second;
    }
    auto distance = [&](Value key, Value row) -> Value {
      return arith::SubIOp::create(b, loc, key, row);
    };
    Value value;
    switch (symbol.role) {
    case Role::None:
      continue;
    case Role::DocumentBegin:
    case Role::FirstKey:
      value = own.firstKey;
      break;
    case Role::DocumentEnd:
      value = own.endKey;
      break;
    case Role::DocumentFullEnd:
      value = isCumulative(term) ? own.endKey : index(0);
      break;
    case Role::ToFirstKey:
      value = distance(own.firstKey, own.firstQuery);
      break;
    case Role::ToEndKey:
      value = distance(own.endKey, own.endQuery);
      break;
    }
    symbols.set(Variable::FirstSymbol + i, value);
  }
}

/// What is true of a pair where a tile has one row: its document's keys are
/// those from its begin to its end.
static Formula ofOneRow(const Formula &formula) {
  SmallVector<Formula> children;
  for (const Formula &child : formula->children)
    children.push_back(ofOneRow(child));
  switch (formula->kind) {
  case FormulaKind::And:
    return allOf(children);
  case FormulaKind::Or:
    return anyOf(children);
  case FormulaKind::Opaque:
    return formula->term &&
                   isCumulative(Attribute::getFromOpaquePointer(formula->term))
               ? formula->may
               : formula;
  default:
    return formula;
  }
}

/// The visible pairs of one batch entry and head.
Value PairCounter::countOfItem(Value batch, Value head) {
  auto whole = [](Value tensor) { return tensor; };
  ItemMask item = maskOfItem(b, loc, {op, batch, head, {}, {}, {}}, whole);
  MaskContext context;
  Formula formula = ofOneRow(maskFormula(context, item.mask));
  BoundsOptions options;
  options.ignoreRaggedTail = true;
  options.work /= 4; // of what is too complex, pairs can be asked
  KeyRanges ranges = analyzeMask(context, formula, {1, 1}, options);
  SymbolValues symbols(ranges.context, queries, keys, item.operands);
  PairPlace place{item.operands, batch, head, /*leading=*/{}};
  auto opaque = [&](const FormulaNode &literal, ValueRange arguments) {
    auto term = Attribute::getFromOpaquePointer(literal.term);
    return cast<MaskTermInterface>(term).emitOpaque(b, loc, place, arguments);
  };
  auto ofRun = [&](OpBuilder &, Location, KeyTileRange run, bool edge,
                   ValueRange sum) -> SmallVector<Value> {
    Value found;
    if (edge) {
      found = sumLoop(run.begin, run.end, [&](Value key) -> Value {
                SymbolValues pair = symbols;
                pair.set(Variable::Query,
                         symbols.lookup(ranges.context, Variable::QueryBegin));
                pair.set(Variable::Key, key);
                Value visible = emitPredicate(b, loc, ranges.context, formula,
                                              pair, opaque);
                return arith::IndexCastUIOp::create(b, loc, b.getIndexType(),
                                                    visible);
              }).getResult(0);
    } else {
      found = arith::SubIOp::create(b, loc, run.end, run.begin);
    }
    return {arith::AddIOp::create(b, loc, sum[0], found)};
  };
  return sumLoop(index(0), queries,
                 [&](Value query) -> Value {
                   symbols.set(Variable::QueryBegin, query);
                   symbols.set(Variable::QueryEnd,
                               arith::AddIOp::create(b, loc, query, index(1)));
                   setDocuments(symbols, ranges.context, item, query);
                   if (Value count = emitKeyCount(b, loc, ranges, symbols))
                     return count;
                   return emitKeyRuns(b, loc, ranges, symbols, index(0), ofRun)
                       .front();
                 })
      .getResult(0);
}

static Value toFloat(OpBuilder &b, Location loc, Value count) {
  Value wide = arith::IndexCastOp::create(b, loc, b.getI64Type(), count);
  return arith::SIToFPOp::create(b, loc, b.getF64Type(), wide);
}

namespace {
/// Operations of one op, as f64.
struct FlopCounter {
  OpBuilder &b;
  Location loc;

  Value of(SdpaOp op) {
    double maps = op.isDifferential() ? 2 : 1;
    Value perPair = perPairOf(op, maps, maps);
    return times(pairsOf(op), perPair);
  }
  Value of(SdpaGradOp op) {
    auto [byKey, byValue] = op.products();
    if (byKey + byValue == 0) // sums over rows alone
      return number(0);
    SdpaOp attention = op.attention(b);
    Value pairs = pairsOf(attention);
    attention.erase();
    return times(pairs, perPairOf(op, byKey, byValue));
  }
  Value of(ProjectOp op) {
    Value product = times(number(2), size(op.getWeight(), op.depthDim()));
    for (int dim = 0; dim < op.getType().getRank(); ++dim)
      product = times(product, size(op.getResult(), dim));
    return product;
  }

private:
  Value number(double value) {
    return arith::ConstantOp::create(b, loc, b.getF64FloatAttr(value));
  }
  Value times(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value size(Value tensor, int dim) {
    return toFloat(b, loc, tensor::DimOp::create(b, loc, tensor, dim));
  }
  Value pairsOf(SdpaOp op) {
    return toFloat(b, loc, PairCounter{b, loc, op}.count());
  }
  /// An FMA for each feature of so many products.
  template <typename Op> Value perPairOf(Op op, double byKey, double byValue) {
    Value key = size(op.getQuery(), op.queryDims().feature);
    Value value = size(op.getValue(), op.valueDims().feature);
    return arith::AddFOp::create(b, loc, times(number(2 * byKey), key),
                                 times(number(2 * byValue), value));
  }
};
} // namespace

static void addFlops(func::FuncOp function) {
  func::FuncOp copy = cloneBehind(function);
  OpBuilder b(copy.front().getTerminator());
  Value total =
      arith::ConstantOp::create(b, copy.getLoc(), b.getF64FloatAttr(0.0));
  SmallVector<Operation *> counted;
  for (Operation &op : copy.front())
    if (isa<SdpaOp, SdpaGradOp, ProjectOp>(op))
      counted.push_back(&op);
  for (Operation *op : counted) {
    FlopCounter counter{b, op->getLoc()};
    Value flops =
        llvm::TypeSwitch<Operation *, Value>(op)
            .Case<SdpaOp, SdpaGradOp, ProjectOp>(
                [&](auto known) -> Value { return counter.of(known); });
    total = arith::AddFOp::create(b, op->getLoc(), total, flops);
  }
  answerInstead(copy, Part::Flops, total);
}

namespace {
struct CountFlops : attn::impl::CountFlopsBase<CountFlops> {
  void runOnOperation() override {
    WalkResult numbered = getOperation().walk([](Operation *op) {
      auto mask =
          isa<SdpaOp, SdpaGradOp>(op) ? op->getAttr("mask") : Attribute();
      if (!mask || !hasNumberedDocuments(mask))
        return WalkResult::advance();
      op->emitOpError("has the tables of numbered documents, which only "
                      "attn-tile-queries may make; write document(cumulative)");
      return WalkResult::interrupt();
    });
    if (numbered.wasInterrupted())
      return signalPassFailure();
    for (func::FuncOp function : entryFunctions(getOperation()))
      addFlops(function);
  }
};
} // namespace
