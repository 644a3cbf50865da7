// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scores of a tile: S^T[key][query] = K[key, :] . Q^T[:, query], with K's
// scalars, or pairs of bf16, broadcast straight from its row-major memory.
#include "ScoreTile.h"
#include "Build/Pairs.h"
#include "MaskPredicate.h"
#include "Normalization.h"
#include "ScoreFunction.h"
#include "attn/Analysis/MaskBounds.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "attn/Dialect/Attn/Utils/MaskLoops.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

/// The fixed point of numbers over the number of query blocks: a division in
/// every block would take as long as several products.
static constexpr int64_t oneBlock = 1 << 20;

ScoreTile::ScoreTile(KernelBuilder &builder, const StateLayout &layout,
                     const TileOperands &operands)
    : k(builder), layout(layout), tile(operands),
      queryBlocks(k, k.sub(tile.queryEnd, tile.queryBegin)),
      extras(k, layout, tile, queryBlocks) {
  keyCount = memref::DimOp::create(k.builder, k.loc, tile.key, 0);
  formula = maskFormula(maskContext, tile.mask);
  if (layout.pairs)
    factor = k.load(tile.state, k.index(layout.factor()), k.index(0));
  if (layout.queryBlocks == 1 || layout.tiles)
    return;
  Value count = k.max(queryBlocks.count, k.index(1));
  auto divided = [&](Value x) -> Value {
    return arith::DivUIOp::create(k.builder, k.loc, x, count);
  };
  perQueryBlock = k.add(divided(k.index(oneBlock)), 1);
  rowsPerBlock = divided(k.add(count, k.rows - 1));
}

ScoreTile::ScoreTile(KernelBuilder &narrower, const ScoreTile &other)
    : k(narrower), layout(other.layout), tile(other.tile),
      queryBlocks(other.queryBlocks), keyCount(other.keyCount),
      factor(other.factor), perQueryBlock(other.perQueryBlock),
      rowsPerBlock(other.rowsPerBlock), maskContext(other.maskContext),
      formula(other.formula), extras(narrower, other.extras) {}

QueryBlockKeys ScoreTile::allKeys() {
  Value zero = k.index(0);
  if (tile.mask)
    return {zero, zero, zero, keyCount};
  Value full = k.mul(k.div(keyCount, k.rows), k.rows);
  return {zero, zero, full, keyCount};
}

QueryBlockKeys ScoreTile::visibleKeys(Value p) {
  if (!tile.mask)
    return allKeys();
  BoundsOptions options;
  options.ignoreRaggedTail = true;
  // Query blocks of a document's rows, and such as are not all of one width,
  // begin anywhere.
  options.rowsInOneTile =
      llvm::isPowerOf2_64(k.vectors) &&
      !llvm::any_of(leafTerms(tile.mask), llvm::IsaPred<DocumentAttr>);
  KeyRanges ranges =
      analyzeMask(maskContext, formula, {k.queryBlock, k.rows}, options);
  SymbolValues symbols(ranges.context, tile.queryLength, tile.keyLength,
                       tile.maskOperands);
  Value first = firstQuery(p);
  symbols.set(Variable::QueryBegin, first);
  symbols.set(Variable::QueryEnd, k.add(tile.queryBegin, queryBlocks.end(p)));
  // Blocks of `rows` keys count from key 0, and tiles begin at a multiple.
  auto local = [&](Value block, Value low) {
    Value relative = k.sub(k.mul(block, k.rows), tile.keyBegin);
    return k.min(k.max(relative, low), keyCount);
  };
  Value zero = k.index(0);
  if (auto bounds = emitKeyBlockBounds(k.builder, k.loc, ranges, symbols)) {
    QueryBlockKeys keys;
    keys.begin = local(bounds->begin, zero);
    keys.end = local(bounds->end, keys.begin);
    keys.fullBegin = local(bounds->fullBegin, keys.begin);
    Value fullEnd = local(bounds->fullEnd, keys.fullBegin);
    Value count = k.sub(fullEnd, keys.fullBegin);
    keys.fullEnd = k.add(keys.fullBegin, k.mul(k.div(count, k.rows), k.rows));
    return keys;
  }
  auto [hullBegin, hullEnd] = emitHull(k.builder, k.loc, ranges, symbols);
  Value begin = local(hullBegin, zero);
  return {begin, begin, begin, local(hullEnd, begin)};
}

void ScoreTile::computeScores(Value p, const QueryBlockKeys &keys,
                              const Options &options) {
  extras.pack(p, keys, options.bias, options.mask);
  auto scoresOf = [&](Value block, bool careful) {
    if (layout.tiles)
      scoreBlockOfTiles(*this, p, block, options, careful);
    else
      scoreBlock(p, block, options, careful);
  };
  k.loop(keys.fullBegin, keys.fullEnd, k.rows,
         [&](Value block) { scoresOf(block, /*careful=*/false); });
  // Careful blocks test the mask, and the last of them moves back where fewer
  // than `rows` keys are left.
  if (!tile.mask)
    return k.loop(keys.fullEnd, keys.end, k.rows,
                  [&](Value block) { scoresOf(block, /*careful=*/true); });
  // One loop takes those on both sides.
  auto blocksOf = [&](Value begin, Value end) {
    return k.mul(k.div(k.add(k.sub(end, begin), k.rows - 1), k.rows), k.rows);
  };
  Value left = blocksOf(keys.begin, keys.fullBegin);
  Value behind = k.sub(keys.fullEnd, left);
  Value both = k.add(left, blocksOf(keys.fullEnd, keys.end));
  k.loop(k.index(0), both, k.rows, [&](Value i) {
    Value origin = k.select(k.less(i, left), keys.begin, behind);
    scoresOf(k.add(origin, i), /*careful=*/true);
  });
}

/// The score function knows nothing of units of log2.
Value ScoreTile::applyFunction(Value score, Value p, Value key, int64_t v) {
  cpu::ScoreFunction function(k, *tile.function, tile.captures);
  Value natural = k.mulf(score, k.splat(llvm::numbers::ln2));
  Value query = k.add(firstQuery(p), v * k.lanes);
  Values result = function.apply(natural, query, k.add(tile.keyBegin, key), {});
  return biasInLog2(k, result[0]);
}

/// A number that no product has: a NaN of its own.
Value ScoreTile::hiddenMark() {
  APInt payload(64, 0x2a77e);
  APFloat mark = APFloat::getQNaN(k.element.getFloatSemantics(),
                                  /*Negative=*/false, &payload);
  return arith::ConstantOp::create(k.builder, k.loc,
                                   DenseElementsAttr::get(k.vectorType, mark));
}

Value ScoreTile::isHidden(Value score) {
  return haveSameBits(k, score, hiddenMark());
}

Value ScoreTile::visible(Value p, Value key, int64_t v) {
  Value query = k.add(firstQuery(p), v * k.lanes);
  Value absolute = k.add(tile.keyBegin, key);
  MaskPredicate predicate(k, maskContext,
                          {tile.keyBegin, tile.queryLength, tile.keyLength,
                           ValueRange(tile.maskOperands)});
  return predicate.evaluate(formula, query, absolute,
                            [&](unsigned operand, Value local) {
                              return extras.isAllowed(operand, p, local, v);
                            });
}

// --- one block of the register tile ---

Value ScoreTile::adjust(Value score, Value p, Value key, int64_t v,
                        const Options &options, bool careful) {
  Value excluded = options.later ? hiddenMark() : k.infinity();
  // What belongs to a row in front of the tile's first key may lie outside.
  Value inside = careful ? k.max(key, k.index(0)) : key;
  if (tile.function && options.function && !options.later)
    score = applyFunction(score, p, inside, v);
  if (tile.bias && options.bias && !options.later) {
    // A bias of -inf excludes, whatever the score is.
    Value bias = extras.bias(p, inside, v);
    Value excludes = arith::CmpFOp::create(
        k.builder, k.loc, arith::CmpFPredicate::OEQ, bias, excluded);
    score = k.select(excludes, excluded, k.addf(score, bias));
  }
  if (!careful)
    return score;
  // A row in front of the tile's first key is there twice.
  Value exists = k.broadcast(arith::CmpIOp::create(
      k.builder, k.loc, arith::CmpIPredicate::sge, key, k.index(0)));
  bool reads = llvm::any_of(tile.maskOperands, [](Value operand) {
    return isa<ShapedType>(operand.getType());
  });
  if (tile.mask && options.mask)
    exists = arith::AndIOp::create(k.builder, k.loc, exists,
                                   visible(p, reads ? inside : key, v));
  return k.select(exists, score, excluded);
}

RegisterTile ScoreTile::products(Value p, ArrayRef<Value> keyRows) {
  Value queries = layout.queries(k, p);
  RegisterTile scores(k.rows, Values(k.vectors, k.splat(0.0)));
  auto query = [&](Value d, int64_t v) {
    return k.load(tile.state, k.add(queries, d), k.index(v * k.lanes));
  };
  if (!layout.pairs)
    return k.multiply(
        k.index(0), k.index(layout.keyDim), scores,
        [&](int64_t r, Value d) {
          return k.loadBroadcast(tile.key, keyRows[r], d);
        },
        query);
  int64_t whole = layout.keyDim / 2;
  scores = k.multiply(
      k.index(0), k.index(whole), scores,
      [&](int64_t r, Value d) {
        return broadcastPair(k, tile.key, keyRows[r], k.mul(d, 2));
      },
      query);
  if (layout.keyDim % 2)
    k.multiplyStep(
        k.index(whole), scores,
        [&](int64_t r, Value d) {
          Value last = lastPair(k, tile.key, keyRows[r], k.mul(d, 2));
          return k.broadcast(last);
        },
        query);
  return scores;
}

void ScoreTile::scoreBlock(Value p, Value block, const Options &options,
                           bool careful) {
  if (!careful && options.nextKey)
    prefetchNext(p, block, options);
  Value first =
      careful ? k.min(block, k.sub(keyCount, k.index(k.rows))) : block;
  Values keyRows;
  for (int64_t r = 0; r < k.rows; ++r) {
    Value row = k.add(first, r);
    keyRows.push_back(careful ? k.max(row, k.index(0)) : row);
  }
  RegisterTile scores = products(p, keyRows);
  bool scaleScores = layout.pairs && options.scaled;
  bool scaleMaximum = layout.pairs && !options.scaled;
  Value weights = layout.weights(k, p);
  Value maximumRow = layout.statistic(k, p, StateLayout::NextMaximum);
  for (int64_t v = 0; v < k.vectors; ++v) {
    Value column = k.index(v * k.lanes);
    Value before = options.updateMaximum
                       ? k.load(tile.state, maximumRow, column)
                       : Value();
    Value maximum = scaleMaximum ? Value() : before;
    for (int64_t r = 0; r < k.rows; ++r) {
      Value key = k.add(first, r);
      Value score = scores[r][v];
      if (scaleScores)
        score = k.mulf(score, factor);
      score = adjust(score, p, key, v, options, careful);
      k.store(score, tile.state, k.add(weights, key), column);
      if (before) // a NaN is left to the weights
        maximum = maximum ? k.maxf(score, maximum) : score;
    }
    if (before && scaleMaximum)
      maximum = k.maxf(k.mulf(maximum, factor), before);
    if (before)
      k.store(maximum, tile.state, maximumRow, column);
  }
}

/// Touches the rows of a matrix from `row` on.
static void prefetchRows(KernelBuilder &k, Value matrix, Value row,
                         int64_t count) {
  constexpr int64_t lineBytes = 64;
  auto type = cast<MemRefType>(matrix.getType());
  int64_t step = lineBytes * 8 / type.getElementTypeBitWidth();
  for (int64_t r = 0; r < count; ++r) {
    Value at = k.add(row, r);
    for (int64_t column = 0; column < type.getDimSize(1); column += step)
      memref::PrefetchOp::create(k.builder, k.loc, matrix,
                                 ValueRange{at, k.index(column)},
                                 /*isWrite=*/false, k.schedule.getPrefetch(),
                                 /*isDataCache=*/true);
  }
}

void ScoreTile::prefetchNext(Value p, Value block, const Options &options) {
  if (!k.schedule.getPrefetch())
    return;
  int64_t queryBlocks = layout.queryBlocks,
          perBlock = (k.rows + queryBlocks - 1) / queryBlocks;
  auto touch = [&](Value row, int64_t count) {
    prefetchRows(k, options.nextKey, k.add(row, keyCount), count);
    if (options.value)
      prefetchRows(k, options.value, row, count);
  };
  auto times = [&](Value x, Value y) -> Value {
    return arith::MulIOp::create(k.builder, k.loc, x, y);
  };
  // Block b of query block p begins at row (p * keys + b) / number of query
  // blocks.
  Value turn = k.add(times(p, keyCount), block);
  if (!rowsPerBlock) {
    touch(k.div(turn, queryBlocks), perBlock);
  } else {
    Value row = k.div(times(turn, perQueryBlock), oneBlock);
    touch(row, perBlock);
    k.loop(k.index(perBlock), rowsPerBlock, 1,
           [&](Value r) { touch(k.add(row, r), 1); });
  }
  if (options.prefetch.empty())
    return;
  int64_t queries = queryBlocks * k.queryBlock,
          blocks = queryBlocks * layout.keyTile / k.rows;
  int64_t perTurn = (queries + blocks - 1) / blocks;
  Value before = k.mul(tile.keyBegin, queryBlocks), first, fewer;
  if (k.vectors == 1) { // a tile of fewer keys has fewer blocks
    fewer = k.less(keyCount, k.index(layout.keyTile));
    Value rows = k.select(fewer, k.index(2 * perTurn), k.index(perTurn));
    first = times(k.div(k.add(before, turn), k.rows), rows);
  } else { // whose loops leave no register for that
    Value keys = k.add(before, k.mul(p, layout.keyTile));
    first = k.mul(k.div(k.add(keys, block), k.rows), perTurn);
  }
  k.when(k.less(first, k.index(queries)), [&] {
    for (Value matrix : options.prefetch) {
      Value count = memref::DimOp::create(k.builder, k.loc, matrix, 0);
      k.when(k.less(first, count), [&] {
        prefetchRows(k, matrix, first, perTurn);
        if (fewer)
          k.when(fewer, [&] {
            prefetchRows(k, matrix, k.add(first, perTurn), perTurn);
          });
      });
    }
  });
}
