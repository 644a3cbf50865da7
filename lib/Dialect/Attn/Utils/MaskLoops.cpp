// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Key ranges and masks to arith and scf.

#include "attn/Dialect/Attn/Utils/MaskLoops.h"
#include "RangeEmitter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace attn;
using namespace mlir;
using arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

std::optional<KeyBlockBounds>
attn::emitKeyBlockBounds(OpBuilder &builder, Location loc,
                         const KeyRanges &ranges, const SymbolValues &symbols) {
  if (ranges.form == KeyLoopForm::Walk)
    return std::nullopt;
  if (ranges.form == KeyLoopForm::None) {
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    return KeyBlockBounds{zero, zero, zero, zero};
  }
  return RangeEmitter(builder, loc, ranges, symbols).loopBounds();
}

std::pair<Value, Value> attn::emitHull(OpBuilder &builder, Location loc,
                                       const KeyRanges &ranges,
                                       const SymbolValues &symbols) {
  if (ranges.form == KeyLoopForm::None) {
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    return {zero, zero};
  }
  RangeEmitter emitter(builder, loc, ranges, symbols);
  SmallVector<TileRange> visited;
  for (const KeyInterval &part : ranges.visit.parts)
    visited.push_back(emitter.range(part));
  TileRange hull = emitter.hull(visited);
  return {hull.begin, hull.end};
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// One scf.for over [begin, end) with the caller's body.
static SmallVector<Value> emitLoop(OpBuilder &builder, Location loc,
                                   Value begin, Value end, bool edge,
                                   ValueRange initArgs, KeyTileBody body) {
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto loop = scf::ForOp::create(
      builder, loc, begin, end, one, initArgs,
      [&](OpBuilder &inner, Location innerLoc, Value keyTile, ValueRange args) {
        SmallVector<Value> next = body(inner, innerLoc, keyTile, edge, args);
        scf::YieldOp::create(inner, innerLoc, next);
      });
  return SmallVector<Value>(loop.getResults());
}

static SmallVector<Value> emitLoops(RangeEmitter &emitter, ValueRange initArgs,
                                    KeyRunBody body,
                                    std::optional<KeyTileRange> part) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  const KeyRanges &ranges = emitter.ranges;
  auto bounds = emitter.loopBounds();
  auto inside = [&](Value tile) -> Value {
    if (!part)
      return tile;
    Value notBefore = arith::MaxSIOp::create(builder, loc, tile, part->begin);
    return arith::MinSIOp::create(builder, loc, notBefore, part->end);
  };
  Value begin = inside(bounds.begin);
  Value fullBegin = inside(bounds.fullBegin);
  Value fullEnd = inside(bounds.fullEnd);
  Value end = inside(bounds.end);
  SmallVector<Value> state(initArgs);
  if (ranges.neverFull)
    return body(builder, loc, {begin, end}, /*edge=*/true, state);
  if (!ranges.head.empty())
    state = body(builder, loc, {begin, fullBegin}, /*edge=*/true, state);
  state = body(builder, loc, {fullBegin, fullEnd}, /*edge=*/false, state);
  if (!ranges.tail.empty())
    state = body(builder, loc, {fullEnd, end}, /*edge=*/true, state);
  return state;
}

namespace {
/// What is known about the run of tiles that begins at the current one.
struct Run {
  Value visited, notFull; ///< i1; notFull is null if no tile is.
  Value next;             ///< first tile behind the run
};

struct Walker {
  RangeEmitter &emitter;
  KeyRunBody body;
  SmallVector<TileRange> visit, notFull;
  TileRange hull;

  Value inside(ScalarEmitter &local, ArrayRef<KeyInterval> parts,
               ArrayRef<TileRange> bounds, Value tile, Value &next);
  Run findRun(OpBuilder &builder, Location loc, Value tile);
  SmallVector<Value> emitRun(OpBuilder &builder, Location loc, const Run &run,
                             Value tile, ValueRange state);
  SmallVector<Value> emit(ValueRange initArgs,
                          std::optional<KeyTileRange> part);
};
} // namespace

/// Is the tile in one of the parts?  Lowers `next` to the next border.
Value Walker::inside(ScalarEmitter &local, ArrayRef<KeyInterval> parts,
                     ArrayRef<TileRange> bounds, Value tile, Value &next) {
  Value any;
  for (auto [part, range] : llvm::zip_equal(parts, bounds)) {
    Value begun = local.compare(CmpIPredicate::sge, tile, range.begin);
    Value open = local.compare(CmpIPredicate::slt, tile, range.end);
    Value border = local.select(begun, local.select(open, range.end, hull.end),
                                range.begin);
    next = local.min(next, border);
    Value in = local.binary<arith::AndIOp>(begun, open);
    for (const Linear &test : part.tests)
      in = local.binary<arith::AndIOp>(in, local.isNonNegative(test));
    any = any ? local.binary<arith::OrIOp>(any, in) : in;
  }
  return any;
}

Run Walker::findRun(OpBuilder &builder, Location loc, Value tile) {
  const KeyRanges &ranges = emitter.ranges;
  ScalarEmitter local{builder, loc, emitter.context, emitter.symbols};
  local.symbols.set(Variable::KeyTile, tile);
  Run run;
  run.next = hull.end;
  run.visited = inside(local, ranges.visit.parts, visit, tile, run.next);
  run.notFull = inside(local, ranges.notFull.parts, notFull, tile, run.next);
  auto hasTests = [](const KeyInterval &part) { return !part.tests.empty(); };
  // A test may change its answer at every tile: runs of length one.
  if (llvm::any_of(ranges.visit.parts, hasTests) ||
      llvm::any_of(ranges.notFull.parts, hasTests))
    run.next = local.binary<arith::AddIOp>(tile, local.constant(1));
  return run;
}

SmallVector<Value> Walker::emitRun(OpBuilder &builder, Location loc,
                                   const Run &run, Value tile,
                                   ValueRange state) {
  auto loop = [&](OpBuilder &inner, bool edge) {
    return body(inner, loc, {tile, run.next}, edge, state);
  };
  if (!run.notFull || emitter.ranges.neverFull)
    return loop(builder, /*edge=*/emitter.ranges.neverFull);
  auto choose = scf::IfOp::create(
      builder, loc, run.notFull,
      [&](OpBuilder &inner, Location innerLoc) {
        scf::YieldOp::create(inner, innerLoc, loop(inner, /*edge=*/true));
      },
      [&](OpBuilder &inner, Location innerLoc) {
        scf::YieldOp::create(inner, innerLoc, loop(inner, /*edge=*/false));
      });
  return SmallVector<Value>(choose.getResults());
}

SmallVector<Value> Walker::emit(ValueRange initArgs,
                                std::optional<KeyTileRange> part) {
  OpBuilder &builder = emitter.builder;
  const KeyRanges &ranges = emitter.ranges;
  for (const KeyInterval &part : ranges.visit.parts)
    visit.push_back(emitter.range(part));
  for (const KeyInterval &part : ranges.notFull.parts)
    notFull.push_back(emitter.range(part));
  hull = emitter.hull(visit);
  if (part) {
    hull.begin =
        arith::MaxSIOp::create(builder, emitter.loc, hull.begin, part->begin);
    hull.end =
        arith::MinSIOp::create(builder, emitter.loc, hull.end, part->end);
  }

  SmallVector<Value> operands{hull.begin};
  llvm::append_range(operands, initArgs);
  auto loop = scf::WhileOp::create(
      builder, emitter.loc, ValueRange(operands).getTypes(), operands,
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        Value more = arith::CmpIOp::create(inner, loc, CmpIPredicate::slt,
                                           args.front(), hull.end);
        scf::ConditionOp::create(inner, loc, more, args);
      },
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        Value tile = args.front();
        ValueRange state = args.drop_front();
        Run run = findRun(inner, loc, tile);
        auto visited = scf::IfOp::create(
            inner, loc, run.visited,
            [&](OpBuilder &then, Location thenLoc) {
              scf::YieldOp::create(then, thenLoc,
                                   emitRun(then, thenLoc, run, tile, state));
            },
            [&](OpBuilder &otherwise, Location otherwiseLoc) {
              scf::YieldOp::create(otherwise, otherwiseLoc, state);
            });
        SmallVector<Value> next{run.next};
        llvm::append_range(next, visited.getResults());
        scf::YieldOp::create(inner, loc, next);
      });
  return SmallVector<Value>(llvm::drop_begin(loop.getResults()));
}

SmallVector<Value> attn::emitKeyLoops(OpBuilder &builder, Location loc,
                                      const KeyRanges &ranges,
                                      const SymbolValues &symbols,
                                      ValueRange initArgs, KeyTileBody body,
                                      std::optional<KeyTileRange> part) {
  return emitKeyRuns(
      builder, loc, ranges, symbols, initArgs,
      [&](OpBuilder &inner, Location innerLoc, KeyTileRange run, bool edge,
          ValueRange args) {
        return emitLoop(inner, innerLoc, run.begin, run.end, edge, args, body);
      },
      part);
}

SmallVector<Value> attn::emitKeyRuns(OpBuilder &builder, Location loc,
                                     const KeyRanges &ranges,
                                     const SymbolValues &symbols,
                                     ValueRange initArgs, KeyRunBody body,
                                     std::optional<KeyTileRange> part) {
  if (ranges.form == KeyLoopForm::None)
    return SmallVector<Value>(initArgs);
  RangeEmitter emitter(builder, loc, ranges, symbols);
  if (ranges.form == KeyLoopForm::Loops)
    return emitLoops(emitter, initArgs, body, part);
  return Walker{emitter, body, {}, {}, {}}.emit(initArgs, part);
}

//===----------------------------------------------------------------------===//
// Predicate
//===----------------------------------------------------------------------===//

/// linear >= 0 or linear == 0, with what depends on k on the left.
static Value emitComparison(ScalarEmitter &emitter, const Linear &linear,
                            bool equality) {
  Linear left, right(-linear.constant);
  for (const auto &[id, coefficient] : linear.terms) {
    bool ofKey = emitter.context.dependsOn(Linear::variable(id), Variable::Key);
    if (ofKey)
      left += Linear::variable(id, coefficient);
    else
      right -= Linear::variable(id, coefficient);
  }
  // left >= right, or -left <= -right if that saves a negation.
  bool flip = !left.isConstant() && left.terms.begin()->second < 0;
  CmpIPredicate predicate = equality ? CmpIPredicate::eq
                            : flip   ? CmpIPredicate::sle
                                     : CmpIPredicate::sge;
  int64_t sign = flip ? -1 : 1;
  Value leftValue = emitter.linear(left * sign);
  return emitter.compare(predicate, leftValue, emitter.linear(right * sign));
}

static Value emitFormula(ScalarEmitter &emitter, const Formula &formula,
                         OpaqueEmitter opaque) {
  OpBuilder &builder = emitter.builder;
  auto boolean = [&](bool value) -> Value {
    return arith::ConstantIntOp::create(builder, emitter.loc, value, 1);
  };
  switch (formula->kind) {
  case FormulaKind::True:
  case FormulaKind::False:
    return boolean(formula->kind == FormulaKind::True);
  case FormulaKind::Ge:
  case FormulaKind::Eq:
    return emitComparison(emitter, formula->linear,
                          formula->kind == FormulaKind::Eq);
  case FormulaKind::And:
  case FormulaKind::Or: {
    Value result;
    for (const Formula &child : formula->children) {
      Value value = emitFormula(emitter, child, opaque);
      if (!result)
        result = value;
      else if (formula->kind == FormulaKind::And)
        result = emitter.binary<arith::AndIOp>(result, value);
      else
        result = emitter.binary<arith::OrIOp>(result, value);
    }
    return result;
  }
  case FormulaKind::Opaque: {
    SmallVector<Value> arguments;
    for (const Linear &argument : formula->arguments)
      arguments.push_back(emitter.linear(argument));
    Value value = opaque(*formula, arguments);
    return formula->negated
               ? emitter.binary<arith::XOrIOp>(value, boolean(true))
               : value;
  }
  }
  llvm_unreachable("all kinds of formula are handled");
}

Value attn::emitPredicate(OpBuilder &builder, Location loc,
                          const MaskContext &context, const Formula &formula,
                          const SymbolValues &symbols, OpaqueEmitter opaque) {
  ScalarEmitter emitter{builder, loc, context, symbols};
  return emitFormula(emitter, formula, opaque);
}

Value attn::emitLinear(OpBuilder &builder, Location loc,
                       const MaskContext &context, const Linear &linear,
                       const SymbolValues &symbols) {
  return ScalarEmitter{builder, loc, context, symbols}.linear(linear);
}
