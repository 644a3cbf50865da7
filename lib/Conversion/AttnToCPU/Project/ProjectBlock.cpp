// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ProjectBlock.h"
#include "Build/Booleans.h"
#include "Build/Pairs.h"
#include "Build/TileProducts.h"
#include "PackPanels.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"
#include <memory>

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

/// A vector as a matrix of one row.
static Value asRow(KernelBuilder &k, Value vector) {
  auto type = cast<MemRefType>(vector.getType());
  SmallVector<ReassociationIndices> all{{0, 1}};
  OpFoldResult size = memref::getMixedSize(k.builder, k.loc, vector, 0);
  return memref::ExpandShapeOp::create(
      k.builder, k.loc, ArrayRef<int64_t>{1, type.getDimSize(0)}, vector, all,
      ArrayRef<OpFoldResult>{k.builder.getIndexAttr(1), size});
}

BlockBuilder::BlockBuilder(KernelBuilder &k, const ProjectOperands &operands,
                           const ProjectSizes &sizes, Value waiting)
    : k(k), panel(sizes.panel),
      bias(operands.bias ? asRow(k, operands.bias) : Value()),
      out(operands.out), waiting(waiting), epilogue(operands.epilogue),
      captures(operands.captures),
      sums(sizes.block ? operands.scratch.back() : Value()),
      rows(sizeOf(k, out, 0)), width(sizeOf(k, out, 1)),
      depth(panelRows(k, sizeOf(k, operands.input, 1))) {}

/// The columns of vector `v` that exist; null: all.
Value BlockBuilder::maskOf(const SumBlock &block, int64_t v) {
  std::optional<int64_t> known = getConstantIntValue(width);
  bool isWhole = v + 1 < block.vectors || (known && *known % k.lanes == 0);
  if (!block.masked || isWhole)
    return {};
  return maskBehind(k, k.add(block.column, v * k.lanes), width);
}

Value BlockBuilder::columnOf(const SumBlock &block, int64_t v) {
  return k.add(block.column, v * k.lanes);
}

/// Both branches give `count` vectors.
Values BlockBuilder::results(Value condition, size_t count,
                             function_ref<Values()> then,
                             function_ref<Values()> otherwise) {
  SmallVector<Type> types(count, k.vectorType);
  auto op = scf::IfOp::create(k.builder, k.loc, types, condition,
                              /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(k.builder);
  k.builder.setInsertionPointToStart(op.thenBlock());
  scf::YieldOp::create(k.builder, k.loc, then());
  k.builder.setInsertionPointToStart(op.elseBlock());
  scf::YieldOp::create(k.builder, k.loc, otherwise());
  return Values(op.getResults());
}

/// The bias of a block's columns, or zeros.
Values BlockBuilder::biases(const SumBlock &block) {
  Values row;
  for (int64_t v = 0; v < block.vectors; ++v)
    row.push_back(
        bias ? k.loadRow(bias, k.index(0), columnOf(block, v), maskOf(block, v))
             : k.splat(0.0));
  return row;
}

RegisterTile BlockBuilder::start(const SumBlock &block) {
  auto first = [&] {
    Values row = biases(block), all;
    for (int64_t r = 0; r < block.rows; ++r)
      llvm::append_range(all, row);
    return all;
  };
  auto later = [&] {
    Values all;
    for (int64_t r = 0; r < block.rows; ++r)
      for (int64_t v = 0; v < block.vectors; ++v)
        all.push_back(
            k.load(waiting, k.add(block.sums, r), k.index(v * k.lanes)));
    return all;
  };
  return unflatten(waiting ? results(k.less(block.begin, k.index(1)),
                                     block.rows * block.vectors, first, later)
                           : first(),
                   block.vectors);
}

/// A vector of booleans of a row.
static Value loadBooleans(KernelBuilder &k, Value matrix, Value row,
                          Value column, Value mask) {
  Value bytes = loadBytes(k, matrix, row, column, mask);
  return arith::TruncIOp::create(
      k.builder, k.loc, VectorType::get(k.lanes, k.builder.getI1Type()), bytes);
}

/// The epilogue of a vector of sums of row `row` of out.
Value BlockBuilder::applyEpilogue(const SumBlock &block, Value sum, Value row,
                                  int64_t v) {
  Value column = columnOf(block, v), mask = maskOf(block, v);
  IRMapping values;
  values.map(epilogue->getArgument(0),
             k.toElement(sum, epilogue->getArgument(0).getType()));
  for (auto [argument, capture] :
       llvm::zip_equal(epilogue->getArguments().drop_front(), captures)) {
    bool isRow = cast<MemRefType>(capture.getType()).getRank() == 1;
    Value matrix = isRow ? asRow(k, capture) : capture;
    Value from = isRow ? k.index(0) : row;
    values.map(argument, argument.getType().isInteger(1)
                             ? loadBooleans(k, matrix, from, column, mask)
                             : k.loadStored(matrix, from, column, mask));
  }
  for (Operation &op : epilogue->without_terminator()) {
    auto type = VectorType::get(k.lanes, op.getResult(0).getType());
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto all = DenseElementsAttr::get(type, constant.getValue());
      values.map(constant.getResult(),
                 arith::ConstantOp::create(k.builder, k.loc, all).getResult());
      continue;
    }
    Values operands;
    for (Value operand : op.getOperands())
      operands.push_back(values.lookup(operand));
    OperationState state(k.loc, op.getName(), operands, type, op.getAttrs());
    values.map(op.getResult(0), k.builder.create(state)->getResult(0));
  }
  return values.lookup(epilogue->getTerminator()->getOperand(0));
}

/// In a loop, which keeps the code of long epilogues short; the sums come from
/// the level-1 cache.
void BlockBuilder::writeBehindEpilogue(const SumBlock &block,
                                       const RegisterTile &acc) {
  for (int64_t r = 0; r < block.rows; ++r)
    for (int64_t v = 0; v < block.vectors; ++v)
      k.store(acc[r][v], sums, k.index(r), k.index(v * k.lanes));
  Value last = block.outRows.back();
  k.loop(k.index(0), k.index(block.rows), 1, [&](Value r) {
    Value row = k.min(k.add(block.outRows.front(), r), last);
    for (int64_t v = 0; v < block.vectors; ++v) {
      Value sum = k.load(sums, r, k.index(v * k.lanes));
      k.storeRow(applyEpilogue(block, sum, row, v), out, row,
                 columnOf(block, v), maskOf(block, v));
    }
  });
}

void BlockBuilder::writeOut(const SumBlock &block, const RegisterTile &acc) {
  if (epilogue)
    return writeBehindEpilogue(block, acc);
  for (int64_t v = 0; v < block.vectors; ++v) {
    Value mask = maskOf(block, v), column = columnOf(block, v);
    for (int64_t r = 0; r < block.rows; ++r)
      k.storeRow(acc[r][v], out, block.outRows[r], column, mask);
  }
}

/// Sums that have all their products go to out, others to the scratch.
void BlockBuilder::finish(const SumBlock &block, const RegisterTile &acc) {
  auto wait = [&] {
    for (int64_t r = 0; r < block.rows; ++r)
      for (int64_t v = 0; v < block.vectors; ++v)
        k.store(acc[r][v], waiting, k.add(block.sums, r), k.index(v * k.lanes));
  };
  auto last = [&] { writeOut(block, acc); };
  if (!waiting)
    return last();
  k.choose(k.less(k.add(block.begin, block.steps), depth), wait, last);
}

/// Vector `v` of a row of a panel, as pairs where it holds these.
Value BlockBuilder::loadSource(const Source &source, Value d, int64_t v) {
  Value row = k.add(source.row, d), column = k.add(source.column, v * k.lanes);
  bool inNumbers =
      cast<MemRefType>(source.matrix.getType()).getElementType().isBF16();
  if (k.schedule.usesDot() && inNumbers)
    return loadPairs(k, source.matrix, row, k.mul(column, 2), Value());
  return k.load(source.matrix, row, column);
}

/// Where the sums go, while the products are computed: stores that miss would
/// hold up the loads of the next block.
void BlockBuilder::prefetchOut(const SumBlock &block) {
  int64_t line =
      64 * 8 / cast<MemRefType>(out.getType()).getElementTypeBitWidth();
  for (Value row : block.outRows)
    for (int64_t i = 0; i < block.vectors * k.lanes; i += line)
      memref::PrefetchOp::create(k.builder, k.loc, out,
                                 ValueRange{row, k.add(block.column, i)},
                                 /*isWrite=*/true, /*localityHint=*/3,
                                 /*isDataCache=*/true);
}

void BlockBuilder::multiply(const SumBlock &block, Value matrix,
                            ArrayRef<Value> rowsOf, Value first) {
  if (!waiting)
    prefetchOut(block);
  RegisterTile acc = k.multiply(
      k.index(0), block.steps, start(block),
      [&](int64_t r, Value d) {
        return k.loadBroadcast(matrix, rowsOf[r], k.add(first, d));
      },
      [&](Value d, int64_t v) {
        if (v == 0 && block.ahead)
          block.ahead(d);
        Value vector = loadSource(block.source, d, v);
        if (block.copy)
          k.store(vector, block.copy, d, k.index(v * k.lanes));
        return vector;
      });
  finish(block, acc);
}

std::function<void(Value)> cpu::fetchEvenly(KernelBuilder &k,
                                            const SumBlock &block,
                                            Spread spread, Value number) {
  Value first = arith::MulIOp::create(k.builder, k.loc, number,
                                      k.div(block.steps, spread.turnsPerLine));
  auto turns = std::make_shared<int64_t>(0);
  return [=, &k](Value turn) {
    if ((*turns)++ % spread.turnsPerLine != 0)
      return;
    Value line = k.add(first, k.div(turn, spread.turnsPerLine));
    memref::PrefetchOp::create(
        k.builder, k.loc, spread.next.matrix,
        ValueRange{spread.next.row, k.mul(line, k.lanes)},
        /*isWrite=*/false, /*localityHint=*/2, /*isDataCache=*/true);
  };
}

// --- tiles ---

/// The sums of tiles, row by row, with what follows them.
void BlockBuilder::writeSums(const SumBlock &block, Value matrix, Value first) {
  Values row = biases(block);
  k.loop(k.index(0), block.count, 1, [&](Value r) {
    Value outRow = k.add(block.outRows.front(), r);
    for (int64_t v = 0; v < block.vectors; ++v) {
      Value sum = k.load(matrix, k.add(first, r), k.index(v * k.lanes));
      if (bias)
        sum = k.addf(row[v], sum);
      k.storeRow(epilogue ? applyEpilogue(block, sum, outRow, v) : sum, out,
                 outRow, columnOf(block, v), maskOf(block, v));
    }
  });
}

void BlockBuilder::multiplyTiles(const SumBlock &block, Value matrix) {
  const Source &source = block.source;
  bool inNumbers =
      cast<MemRefType>(source.matrix.getType()).getElementType().isBF16();
  Value into = waiting ? waiting : sums;
  Value first = waiting ? block.sums : k.index(0);
  auto eachTile =
      [&](function_ref<void(int64_t r, int64_t v, Value row, Value column)>
              body) {
        for (int64_t r = 0; r < block.rows / tileSize; ++r)
          for (int64_t v = 0; v < block.vectors; ++v)
            body(r, v, k.add(first, r * tileSize), k.index(v * tileSize));
      };
  // No instruction copies a tile register: sums that begin in two ways would go
  // through memory, so there are two loops.
  auto multiplyFrom = [&](bool begins) {
    RegisterTile acc(block.rows / tileSize, Values(block.vectors));
    eachTile([&](int64_t r, int64_t v, Value row, Value column) {
      acc[r][v] = begins ? zeroTile(k) : loadSums(k, into, row, column);
    });
    acc = k.multiply(
        k.index(0), k.div(block.steps, tileSize), acc,
        [&](int64_t r, Value step) {
          return loadTile(k, matrix, k.index(r * tileSize),
                          k.mul(step, tileSize), /*passes=*/true);
        },
        [&](Value step, int64_t v) {
          if (v == 0 && block.ahead)
            block.ahead(k.mul(step, tileSize));
          Value column = k.add(source.column, v * tileSize);
          return loadTile(k, source.matrix,
                          k.add(source.row, k.mul(step, tileSize)),
                          inNumbers ? k.mul(column, 2) : column);
        });
    eachTile([&](int64_t r, int64_t v, Value row, Value column) {
      storeTile(k, acc[r][v], into, row, column);
    });
  };
  auto write = [&] { writeSums(block, into, first); };
  if (!waiting) {
    multiplyFrom(/*begins=*/true);
    return write();
  }
  k.choose(
      k.less(block.begin, k.index(1)), [&] { multiplyFrom(/*begins=*/true); },
      [&] { multiplyFrom(/*begins=*/false); });
  Value end = k.add(block.begin, block.steps);
  k.when(k.less(k.add(depth, -1), end), write);
}
