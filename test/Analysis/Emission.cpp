// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Emission.h"
#include "Interpreter.h"
#include "attn/Dialect/Attn/Utils/MaskLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace attn;
using namespace attn::test;
using namespace mlir;

namespace {
struct Visit {
  int64_t keyTile;
  bool edge;
  bool operator==(const Visit &other) const {
    return keyTile == other.keyTile && edge == other.edge;
  }
};
} // namespace

static Operation *makeOp(OpBuilder &builder, Location loc, llvm::StringRef name,
                         ValueRange operands, TypeRange results) {
  OperationState state(loc, name, operands, results);
  return builder.create(state);
}

func::FuncOp attn::test::emitLoopFunction(OpBuilder &builder, Location loc,
                                          const KeyRanges &ranges) {
  SmallVector<Type> inputs(ranges.context.symbols().size(),
                           builder.getIndexType());
  auto function = func::FuncOp::create(builder, loc, "loops",
                                       builder.getFunctionType(inputs, {}));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(function.addEntryBlock());
  SymbolValues symbols;
  for (auto [index, argument] : llvm::enumerate(function.getArguments()))
    if (usesSymbol(ranges, Variable::FirstSymbol + index))
      symbols.set(Variable::FirstSymbol + index, argument);
  auto number = [](OpBuilder &b, Location l, int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, l, value);
  };
  Value zero = number(builder, loc, 0);
  SmallVector<Value> results = emitKeyLoops(
      builder, loc, ranges, symbols, {zero, zero},
      [&](OpBuilder &b, Location l, Value tile, bool edge, ValueRange state) {
        Operation *op = makeOp(b, l, "test.tile", tile, {});
        op->setAttr("edge", b.getBoolAttr(edge));
        Value one = number(b, l, 1);
        Value count = arith::AddIOp::create(b, l, state[0], one);
        Value hash = arith::MulIOp::create(b, l, state[1], number(b, l, 31));
        hash = arith::AddIOp::create(b, l, hash, tile);
        return SmallVector<Value>{count, hash};
      });
  auto hull = emitHull(builder, loc, ranges, symbols);
  results.append({hull.first, hull.second});
  if (auto bounds = emitKeyBlockBounds(builder, loc, ranges, symbols))
    results.append(
        {bounds->begin, bounds->fullBegin, bounds->fullEnd, bounds->end});
  func::ReturnOp::create(builder, loc, results);
  return function;
}

func::FuncOp attn::test::emitPredicateFunction(OpBuilder &builder, Location loc,
                                               const MaskContext &context,
                                               const Formula &formula) {
  SmallVector<Type> inputs(context.symbols().size() + 2,
                           builder.getIndexType());
  auto function = func::FuncOp::create(builder, loc, "predicate",
                                       builder.getFunctionType(inputs, {}));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(function.addEntryBlock());
  auto arguments = function.getArguments();
  SymbolValues symbols;
  for (size_t i = 2; i < arguments.size(); ++i)
    if (int id = Variable::FirstSymbol + i - 2;
        usesSymbol(context, formula, id))
      symbols.set(id, arguments[i]);
  symbols.set(Variable::Query, arguments[0]);
  symbols.set(Variable::Key, arguments[1]);
  Value sees = emitPredicate(builder, loc, context, formula, symbols,
                             [&](const FormulaNode &, ValueRange pair) {
                               return makeOp(builder, loc, "test.opaque", pair,
                                             builder.getI1Type())
                                   ->getResult(0);
                             });
  func::ReturnOp::create(builder, loc, sees);
  return function;
}

bool attn::test::loopsAreRight(RandomMask &mask, const KeyRanges &ranges,
                               func::FuncOp function) {
  std::vector<Visit> visits, expected;
  int64_t hash = 0, firstFull = -1, lastFull = -1;
  for (int64_t kt = 0; kt * mask.tiles.key < mask.numKeys; ++kt) {
    if (!contains(ranges.context, ranges.visit, mask.values, kt))
      continue;
    bool edge = contains(ranges.context, ranges.notFull, mask.values, kt);
    expected.push_back({kt, edge});
    hash = int64_t(uint64_t(hash) * 31 + kt);
    if (!edge) {
      firstFull = firstFull < 0 ? kt : firstFull;
      lastFull = kt;
    }
  }
  Interpreter interpreter([&](Operation &op, ArrayRef<int64_t> operands) {
    bool edge = op.getAttrOfType<BoolAttr>("edge").getValue();
    visits.push_back({operands[0], edge});
    return Numbers();
  });
  ArrayRef<int64_t> symbols(mask.values);
  Numbers results = interpreter.run(function.getBody().front(),
                                    symbols.drop_front(Variable::FirstSymbol));
  // The hull does not look at tests per tile.
  bool tight = llvm::all_of(ranges.visit.parts, [](const KeyInterval &part) {
    return part.tests.empty();
  });
  bool right = visits == expected && results[0] == int64_t(expected.size()) &&
               results[1] == hash;
  if (expected.empty())
    right &= results[2] >= results[3] || !tight;
  else if (tight)
    right &= results[2] == expected.front().keyTile &&
             results[3] == expected.back().keyTile + 1;
  else
    right &= results[2] <= expected.front().keyTile &&
             results[3] > expected.back().keyTile;
  if (ranges.form == KeyLoopForm::Walk)
    return right && results.size() == 4;
  int64_t begin = results[4], fullBegin = results[5], fullEnd = results[6],
          end = results[7];
  right &= begin <= fullBegin && fullBegin <= fullEnd && fullEnd <= end;
  right &= end - begin == int64_t(expected.size());
  if (firstFull < 0)
    return right && fullBegin == fullEnd;
  return right && fullBegin == firstFull && fullEnd == lastFull + 1;
}

bool attn::test::predicateIsRight(RandomMask &mask, func::FuncOp function,
                                  int64_t q, int64_t k) {
  Interpreter interpreter([&](Operation &op, ArrayRef<int64_t> operands) {
    return Numbers{mask.sameDocument(operands[0], operands[1])};
  });
  bool expected = mask.sees(q, k);
  Numbers arguments{q, k};
  arguments.append(mask.values.begin() + Variable::FirstSymbol,
                   mask.values.end());
  return interpreter.run(function.getBody().front(), arguments)[0] == expected;
}
