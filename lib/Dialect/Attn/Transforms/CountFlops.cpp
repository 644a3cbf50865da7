// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How much arithmetic a result needs: for benchmarks and `--repeat`.
//
// Before:  func.func @mha(%q, %k, %v) -> .. { attn.sdpa .. where causal(..) }
// After:   and func.func @mha.flops(%q, %k, %v) -> f64 {
//            // visible pairs * 2 * (key dim + value dim), per batch, head, map
//          }
//
// Only visible pairs count, found by testing the mask on every pair: exact, and
// slow only in proportion to the scores that a kernel does not store. A mask
// that reads what the function itself computes counts as one that sees every
// pair: its values are only there while the kernel runs. A projection counts
// 2 * rows * inputs * outputs.
//
// Before: the fused level. After: every public function has its @NAME.flops.
#include "ItemMask.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/IR/MaskTerms.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Attn/Utils/MaskLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

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

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value size(Value tensor, int dim) {
    return dim < 0 ? index(1)
                   : tensor::DimOp::create(b, loc, tensor, dim).getResult();
  }
  Value sum(Value count, Value init,
            function_ref<Value(Value i, Value sum)> body) {
    auto loop = scf::ForOp::create(
        b, loc, index(0), count, index(1), init,
        [&](OpBuilder &, Location, Value i, ValueRange carried) {
          scf::YieldOp::create(b, loc, body(i, carried[0]));
        });
    return loop.getResult(0);
  }

  /// Visible pairs of all batch entries and heads.
  Value count() {
    SdpaOp::Dims q = op.queryDims(), k = op.keyDims();
    Value batches = size(op.getQuery(), q.batch),
          heads = size(op.getQuery(), q.head),
          queries = size(op.getQuery(), q.sequence),
          keys = size(op.getKey(), k.sequence);
    auto times = [&](Value x, Value y) -> Value {
      return arith::MulIOp::create(b, loc, x, y);
    };
    if (!op.getMask() || readsComputed(op))
      return times(times(batches, heads), times(queries, keys));
    return sum(batches, index(0), [&](Value batch, Value total) {
      return sum(heads, total, [&](Value head, Value perBatch) {
        return countOfItem(batch, head, queries, keys, perBatch);
      });
    });
  }

  /// Gives the symbols of positions in documents their values for `query`.
  void setDocument(SymbolValues &symbols, const MaskContext &context,
                   const ItemMask &item, Value query, Value queries,
                   Value keys) {
    using Predicate = arith::CmpIPredicate;
    auto document = cast<DocumentAttr>(
        *llvm::find_if(conjunctionOf(item.mask), llvm::IsaPred<DocumentAttr>));
    auto border = [&](OperandAttr starts, Value i, Value length) -> Value {
      PairPlace place{item.operands, {}, {}, {}};
      Value at = loadFromRow(b, loc, place, starts, i);
      at = arith::MaxSIOp::create(b, loc, at, index(0));
      return arith::MinSIOp::create(b, loc, at, length);
    };
    Value borders = tensor::DimOp::create(
        b, loc, item.operands[document.getQueries().getPosition()], 0);
    Value zero = index(0), one = index(1);
    // First query, end of the queries, first key, end of the keys.
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
    for (auto [i, symbol] : llvm::enumerate(context.symbols())) {
      if (symbol.name == "document_first_key")
        symbols.set(Variable::FirstSymbol + i, ends[2]);
      else if (symbol.name == "document_top_left")
        symbols.set(Variable::FirstSymbol + i,
                    arith::SubIOp::create(b, loc, ends[2], ends[0]));
      else if (symbol.name == "document_bottom_right")
        symbols.set(Variable::FirstSymbol + i,
                    arith::SubIOp::create(b, loc, ends[3], ends[1]));
    }
  }

  /// `total` and the visible pairs of one batch entry and head.
  Value countOfItem(Value batch, Value head, Value queries, Value keys,
                    Value total) {
    auto whole = [](Value tensor) { return tensor; };
    ItemMask item = maskOfItem(b, loc, {op, batch, head, {}, {}, {}}, whole);
    MaskContext context;
    Formula formula = maskFormula(context, item.mask);
    SymbolValues symbols(context, queries, keys, item.operands);
    PairPlace place{item.operands, batch, head, /*leading=*/{}};
    auto opaque = [&](const FormulaNode &literal, ValueRange arguments) {
      auto term = Attribute::getFromOpaquePointer(literal.term);
      return cast<MaskTermInterface>(term).emitOpaque(b, loc, place, arguments);
    };
    return sum(queries, total, [&](Value query, Value perHead) {
      if (standsInDocument(item.mask))
        setDocument(symbols, context, item, query, queries, keys);
      return sum(keys, perHead, [&](Value key, Value pairs) -> Value {
        Value visible = emitPredicate(b, loc, context, formula, query, key,
                                      symbols, opaque);
        Value one =
            arith::IndexCastUIOp::create(b, loc, b.getIndexType(), visible);
        return arith::AddIOp::create(b, loc, pairs, one);
      });
    });
  }
};
} // namespace

static Value toFloat(OpBuilder &b, Location loc, Value count) {
  Value wide = arith::IndexCastOp::create(b, loc, b.getI64Type(), count);
  return arith::SIToFPOp::create(b, loc, b.getF64Type(), wide);
}

/// Operations of `op`, as f64.
static Value flopsOf(OpBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  auto size = [&](Value tensor, int dim) {
    return toFloat(b, loc, tensor::DimOp::create(b, loc, tensor, dim));
  };
  Value two = arith::ConstantOp::create(b, loc, b.getF64FloatAttr(2.0));
  auto times = [&](Value x, Value y) -> Value {
    return arith::MulFOp::create(b, loc, x, y);
  };
  if (auto sdpa = dyn_cast<SdpaOp>(op)) {
    Value dims = arith::AddFOp::create(
        b, loc, size(sdpa.getQuery(), sdpa.queryDims().feature),
        size(sdpa.getValue(), sdpa.valueDims().feature));
    if (sdpa.isDifferential()) // both products twice
      dims = times(two, dims);
    Value pairs = toFloat(b, loc, PairCounter{b, loc, sdpa}.count());
    return times(pairs, times(two, dims));
  }
  auto project = cast<ProjectOp>(op);
  Value product = times(two, size(project.getWeight(), 0));
  for (int dim = 0; dim < project.getType().getRank(); ++dim)
    product = times(product, size(project.getResult(), dim));
  return product;
}

static void addFlops(func::FuncOp func) {
  OpBuilder b(func.getContext());
  b.setInsertionPointAfter(func);
  auto flops = cast<func::FuncOp>(b.clone(*func));
  flops.setName((func.getName() + ".flops").str());
  flops->removeAttr("attn.ports");
  flops.removeResAttrsAttr();
  flops.setPrivate();
  flops.setType(b.getFunctionType(func.getArgumentTypes(), b.getF64Type()));
  auto ret = cast<func::ReturnOp>(flops.front().getTerminator());
  b.setInsertionPoint(ret);
  Value total =
      arith::ConstantOp::create(b, func.getLoc(), b.getF64FloatAttr(0.0));
  SmallVector<Operation *> counted;
  for (Operation &op : flops.front())
    if (isa<SdpaOp, ProjectOp>(op))
      counted.push_back(&op);
  for (Operation *op : counted)
    total = arith::AddFOp::create(b, op->getLoc(), total, flopsOf(b, op));
  ret->setOperands(total);
}

namespace {
struct CountFlops : attn::impl::CountFlopsBase<CountFlops> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (func.isPublic() && !func.isExternal())
        functions.push_back(func);
    for (func::FuncOp func : functions)
      addFlops(func);
  }
};
} // namespace
