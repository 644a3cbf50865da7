// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ExplainFacts.h"
#include "attn/Analysis/MaskCounts.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "attn/Dialect/Attn/Utils/DecodeRows.h"
#include "attn/Dialect/Attn/Utils/MaskLoops.h"
#include "attn/Pipelines/Positions.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

/// A size of a tensor, read off the arguments that it comes from.
static Length lengthOf(Value tensor, int64_t dim, const SymbolSizes &sizes) {
  int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  while (auto result = dyn_cast<OpResult>(tensor)) {
    OpBuilder builder(result.getOwner());
    ReifiedRankedShapedTypeDims shapes;
    if (!ShapedType::isDynamic(size) ||
        failed(reifyResultShapes(builder, result.getOwner(), shapes)))
      break;
    OpFoldResult from = shapes[result.getResultNumber()][dim];
    if (std::optional<int64_t> constant = getConstantIntValue(from)) {
      size = *constant;
      break;
    }
    auto source = cast<Value>(from).getDefiningOp<tensor::DimOp>();
    if (!source || !source.getConstantIndex())
      return {};
    tensor = source.getSource();
    dim = *source.getConstantIndex();
    size = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  }
  if (!ShapedType::isDynamic(size))
    return {std::to_string(size), size};
  auto argument = dyn_cast<BlockArgument>(tensor);
  if (!argument)
    return {};
  PortAttr port =
      PortAttr::of(argument.getOwner()->getParentOp())[argument.getArgNumber()];
  size = port.getSizes()[dim];
  if (size >= 0)
    return {std::to_string(size), size};
  std::string symbol = port.getSymbols()[dim].str();
  for (const auto &[name, value] : sizes)
    if (name == symbol)
      return {symbol + " = " + std::to_string(value), value};
  return {symbol, std::nullopt};
}

int64_t attn::keysPerItem(SdpaOp op, ScheduleInterface schedule) {
  bool decode = schedule.getKind() == Kind::Decode;
  bool never =
      decode ? cutsRowsAtDocuments(op) : splitsKeys(op, schedule) == false;
  return never ? 0 : schedule.getSplitKeys();
}

static bool hasOpaque(const Formula &formula) {
  return formula->kind == FormulaKind::Opaque ||
         llvm::any_of(formula->children, hasOpaque);
}

namespace {
/// Counts tiles and pairs.
struct Counter {
  const KeyRanges &ranges;
  const MaskContext &context; ///< of the formula
  const Formula &formula;
  int64_t queries, keys;
  TileCounts counts{};
  SmallVector<int64_t> values{};

  /// By closed sums; false where there are none, or too many terms. The pairs
  /// alone may be missing then.
  bool sum();
  /// By asking for each.
  void ask();
  bool tilesAreKnown = false;

  /// Steps of countTiles, some tenths of a second.
  int64_t work = 30000000;

  std::optional<int64_t> tiles(const KeySet &set, int64_t begin, int64_t end);
  bool sumPairs(int64_t begin, int64_t end);
  void visitTile(int64_t begin, int64_t end, int64_t keyTile);
  void setLengths(const MaskContext &of);
};
} // namespace

void Counter::setLengths(const MaskContext &of) {
  values.assign(of.numValues(), 0);
  values[Variable::QueryLength] = queries;
  values[Variable::KeyLength] = keys;
}

/// Of the query tiles [begin, end), of which the last may have fewer rows.
std::optional<int64_t> Counter::tiles(const KeySet &set, int64_t begin,
                                      int64_t end) {
  int64_t rest = queries - (end - 1) * ranges.tiles.query;
  QueryTileRange range{begin, end, rest < ranges.tiles.query ? rest : 0};
  return countTiles(ranges.context, set, ranges.tiles, range, values, work);
}

/// Adds the pairs of the visited tiles of these query tiles, which have the
/// same number of rows each.
bool Counter::sumPairs(int64_t begin, int64_t end) {
  if (begin == end)
    return true;
  int64_t keyTiles = llvm::divideCeil(keys, ranges.tiles.key);
  std::optional<int64_t> all = tiles(ranges.visit, begin, end),
                         last = tiles(only(ranges.visit, keyTiles - 1), begin,
                                      end);
  if (!all || !last)
    return false;
  int64_t rows = std::min(queries, end * ranges.tiles.query) -
                 (end - 1) * ranges.tiles.query;
  counts.visited += *all;
  counts.visitedPairs += rows * (*all * ranges.tiles.key -
                                 *last * (keyTiles * ranges.tiles.key - keys));
  return true;
}

bool Counter::sum() {
  counts.testedPairs = !hasOpaque(formula);
  if (queries == 0 || keys == 0)
    return true;
  setLengths(ranges.context);
  int64_t whole = queries / ranges.tiles.query,
          queryTiles = llvm::divideCeil(queries, ranges.tiles.query);
  counts.all = queryTiles * llvm::divideCeil(keys, ranges.tiles.key);
  if (!sumPairs(0, whole) || !sumPairs(whole, queryTiles))
    return false;
  std::optional<int64_t> edge =
      tiles(intersection(ranges.visit, ranges.notFull), 0, queryTiles);
  if (!edge)
    return false;
  counts.edge = *edge;
  tilesAreKnown = true;
  if (!counts.testedPairs)
    return true;
  counts.testedPairs = false;
  if (!ranges.visit.exact) // some visited tiles may be empty
    return false;
  // A pair is a tile of one row and one key.
  KeyRanges pairs = analyzeMask(context, formula, {1, 1}, ranges.options);
  if (!pairs.visit.exact)
    return false;
  setLengths(pairs.context);
  std::optional<int64_t> visible = countTiles(
      pairs.context, pairs.visit, pairs.tiles, {0, queries}, values, work);
  counts.visiblePairs = visible.value_or(0);
  counts.testedPairs = visible.has_value();
  return counts.testedPairs;
}

void Counter::visitTile(int64_t begin, int64_t end, int64_t keyTile) {
  if (!contains(ranges.context, ranges.visit, values, keyTile))
    return;
  ++counts.visited;
  int64_t firstKey = keyTile * ranges.tiles.key;
  int64_t lastKey = std::min(firstKey + ranges.tiles.key, keys);
  int64_t pairs = (end - begin) * (lastKey - firstKey);
  counts.visitedPairs += pairs;
  if (!contains(ranges.context, ranges.notFull, values, keyTile)) {
    counts.visiblePairs += pairs;
    return;
  }
  ++counts.edge;
  if (!counts.testedPairs)
    return;
  int64_t visible = 0;
  for (int64_t q = begin; q < end; ++q)
    for (int64_t k = firstKey; k < lastKey; ++k) {
      values[Variable::Query] = q;
      values[Variable::Key] = k;
      visible += ranges.context.evaluate(
          formula, values, [](unsigned, int64_t, int64_t) { return false; });
    }
  counts.visiblePairs += visible;
  counts.emptyVisited += visible == 0;
}

void Counter::ask() {
  counts = TileCounts();
  int64_t queryTiles = llvm::divideCeil(queries, ranges.tiles.query);
  int64_t keyTiles = llvm::divideCeil(keys, ranges.tiles.key);
  counts.all = queryTiles * keyTiles;
  counts.testedPairs = !hasOpaque(formula);
  setLengths(ranges.context);
  for (int64_t tile = 0; tile < queryTiles; ++tile) {
    int64_t begin = tile * ranges.tiles.query;
    int64_t end = std::min(begin + ranges.tiles.query, queries);
    values[Variable::QueryBegin] = begin;
    values[Variable::QueryEnd] = end;
    for (int64_t kt = 0; kt < keyTiles; ++kt)
      visitTile(begin, end, kt);
  }
}

/// Does an answer depend on this symbol?
static bool matters(const KeyRanges &ranges, const Formula &formula,
                    int variable) {
  return usesSymbol(ranges, variable) ||
         usesSymbol(ranges.context, formula, variable);
}

static void count(AttentionFacts &facts, const MaskContext &context,
                  const Formula &formula) {
  for (auto [i, symbol] : llvm::enumerate(context.symbols()))
    if ((symbol.kind == MaskContext::SymbolKind::Operand ||
         symbol.kind == MaskContext::SymbolKind::Free) &&
        matters(facts.ranges, formula, Variable::FirstSymbol + i)) {
      facts.notCounted = symbol.name + " at run time";
      return;
    }
  if (!facts.queries.value || !facts.keys.value) {
    facts.notCounted = (facts.queries.value ? facts.keys : facts.queries).text +
                       "; give it with --dim";
    return;
  }
  int64_t queries = *facts.queries.value, keys = *facts.keys.value;
  if (std::max(queries, keys) >= MaskContext::MaxLength) {
    facts.notCounted = "lengths of 2^31 or more";
    return;
  }
  Counter counter{facts.ranges, context, formula, queries, keys};
  if (!counter.sum()) {
    constexpr int64_t mostPairs = int64_t(1) << 26;
    if (queries * keys <= mostPairs) {
      counter.ask();
    } else if (!counter.tilesAreKnown) {
      facts.notCounted =
          "more pairs than are tested for a mask that has no closed sum";
      return;
    }
  }
  facts.counts = counter.counts;
}

static AttentionFacts factsOf(SdpaOp op, const SymbolSizes &sizes,
                              ScheduleInterface schedule) {
  AttentionFacts facts;
  facts.position = positionOf(op.getLoc());
  facts.queries = lengthOf(op.getQuery(), op.queryDims().sequence, sizes);
  facts.keys = lengthOf(op.getKey(), op.keyDims().sequence, sizes);
  facts.schedule = schedule;
  facts.keysPerItem = keysPerItem(op, schedule);
  facts.features = op.getQuery().getType().getDimSize(op.queryDims().feature) +
                   op.getValue().getType().getDimSize(op.valueDims().feature);
  if (op.isDifferential())
    facts.features *= 2;
  MaskContext context;
  Formula formula = maskFormula(context, op.getMaskAttr());
  facts.mask = op.getMaskAttr() ? context.toString(formula) : "always";
  BoundsOptions options;
  options.ignoreRaggedTail = true;
  int64_t queryTile = schedule.getKind() == Kind::Decode
                          ? mostDecodeQueries(op)
                          : schedule.getQueryTile();
  facts.ranges = analyzeMask(context, formula,
                             {queryTile, schedule.getKeyTile()}, options);
  count(facts, context, formula);
  return facts;
}

std::optional<PartsFacts> attn::partsOf(SdpaOp op, const AttentionFacts &facts,
                                        ScheduleInterface schedule) {
  if (!schedule.runsInBlocks() || schedule.getKind() != Kind::Decode)
    return std::nullopt;
  PartsFacts parts;
  RankedTensorType query = op.getQuery().getType(), key = op.getKey().getType(),
                   value = op.getValue().getType();
  auto headsOf = [](RankedTensorType type, int dim) {
    return dim < 0 ? 1 : type.getDimSize(dim);
  };
  int64_t queryHeads = headsOf(query, op.queryDims().head),
          keyHeads = headsOf(key, op.keyDims().head);
  parts.heads = headsOfState(op, schedule);
  int64_t keys = keysPerItem(op, schedule);
  if (ShapedType::isDynamic(queryHeads) || ShapedType::isDynamic(keyHeads) ||
      keyHeads == 0)
    return parts;
  parts.blocks = queryHeads / parts.heads;
  parts.reads = parts.blocks / keyHeads;
  if (!facts.keys.value)
    return parts;
  parts.parts =
      keys ? std::min<int64_t>(llvm::divideCeil(*facts.keys.value, keys),
                               mostPartsOfKeys)
           : 1;
  int64_t features = query.getShape().back() + value.getShape().back();
  parts.keyBytes = keyHeads * *facts.keys.value * features *
                   key.getElementTypeBitWidth() / 8;
  constexpr int64_t stateElement = 4, statistics = 2;
  if (facts.queries.value)
    parts.stateBytes = parts.parts * queryHeads * *facts.queries.value *
                       (value.getShape().back() + statistics) * stateElement;
  return parts;
}

std::vector<AttentionFacts> attn::factsOf(SdpaOp op, const SymbolSizes &sizes) {
  ScheduleInterface many = op.getScheduleAttr(),
                    few = op.getDecodeScheduleAttr();
  std::vector<AttentionFacts> facts;
  if (many)
    facts.push_back(::factsOf(op, sizes, many));
  if (few)
    facts.push_back(::factsOf(op, sizes, few));
  if (std::optional<int64_t> queries = facts.front().queries.value;
      many && few && queries && !countsDocuments(op))
    facts.erase(*queries <= mostDecodeQueries(op) ? facts.begin()
                                                  : facts.begin() + 1);
  return facts;
}
