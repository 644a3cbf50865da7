// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the tile sizes of every kernel from the module's target.
//
// Before:  attn.sdpa %q, %k, %v scale 0.125 : (..) -> ..
// After:   attn.sdpa %q, %k, %v scale 0.125
//            {schedule = #attn.cpu_schedule<lanes = 8, rows = 6, vectors = 2,
//            ...>}
//
// Register tiles come from the tables of PrefillRules.cpp, DecodeRules.cpp and
// ProjectRules.cpp.
// Lanes are queries, or features in kind decode; f64 has half as many as f32. A
// query tile holds as many query blocks as give about 128 queries, with
// registers of 512 bits and without a mask 192 where keys or values are
// narrower than what is computed: more queries share what converting them
// takes. A key tile takes three quarters of the level-1 cache, but between 48
// and 96 keys; at one FMA per cycle four times as much, but at most 128, for
// then the level-2 cache is fast enough.
//
// Few queries, or an unknown number, get a schedule of kind decode too, unless
// weights are dropped, for which only kind prefill with single numbers has
// code. An item
// of kind prefill sees all keys, unless a head has few tiles of queries and
// many keys: then it sees 4096 of them.
//
// A projection of bf16 in pairs or tiles by a weight that would be packed first
// gets a few_rows_schedule of numbers, or that alone where its rows are few.
//
// An op that carries a schedule keeps it, so that a test or a user can pin it.
// Before: ops of the fused level. After: every sdpa, project, merge_states and
// finalize_state has a schedule. docs/Experiments.md has the measurements.
#include "Rules.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Utils/DecodeRows.h"
#include "attn/Dialect/Attn/Utils/FewRows.h"
#include "attn/Schedule/Passes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace attn {
#define GEN_PASS_DEF_ASSIGNSCHEDULE
#include "attn/Schedule/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

using namespace attn::schedule;

/// The most queries per head for which lanes hold features, and the most rows
/// of a group of heads.
static constexpr int64_t fewQueries = 15, maxDecodeRows = 128;

/// No row of so many numbers fits into a cache. (More could overflow.)
static constexpr int64_t wholeCache = int64_t(1) << 40;

/// No sequence is longer.
static constexpr int64_t longestSequence = int64_t(1) << 31;

/// Columns of a tile of sums.
static constexpr int64_t tileLanes = 16;

/// The most queries per head for which kind prefill splits keys.
static constexpr int64_t prefillSplitQueries = 1024;

/// The fewest keys of an item of a gradient that has some of a head's keys.
static constexpr int64_t partOfGradient = 1024;

namespace {
struct AssignSchedule : attn::impl::AssignScheduleBase<AssignSchedule> {
  using AssignScheduleBase::AssignScheduleBase;

  TargetAttr target;

  CPUScheduleAttr prefillSchedule(const PrefillSizes &sizes, int64_t lanes,
                                  int64_t queryTile, int64_t keyTile,
                                  Products products, int64_t prefetch = 2) {
    return CPUScheduleAttr::get(&getContext(), lanes, sizes.rows, sizes.vectors,
                                queryTile, keyTile, sizes.unroll, prefetch,
                                Kind::Prefill, /*split_keys=*/0,
                                /*split_queries=*/0, products, usualBlock,
                                /*interleave=*/1);
  }

  /// About `most` queries in whole query blocks, but no more than there are.
  static int64_t queryTile(int64_t queries, int64_t queryBlock, int64_t most) {
    int64_t tile = std::max<int64_t>(1, most / queryBlock) * queryBlock;
    if (ShapedType::isDynamic(queries))
      return tile;
    auto needed = static_cast<int64_t>(
        llvm::alignTo(static_cast<uint64_t>(queries), queryBlock));
    return std::min(tile, std::max(queryBlock, needed));
  }

  /// Keys of a tile for a register tile with query blocks of so many queries.
  int64_t keysOfTile(const PrefillKernel &kernel, const PrefillSizes &sizes,
                     int64_t dim, int64_t bytes, int64_t queryBlock) const {
    constexpr int64_t wholeKeyTile = 128;
    dim = std::clamp<int64_t>(dim, 1, wholeCache);
    int64_t l1 = target.getL1Bytes();
    bool pairs = kernel.products == Products::Dot,
         tiles = kernel.products == Products::Amx;
    bool fillsRegisters = sizes.unroll == 8;
    if (fillsRegisters && bytes * dim * wholeKeyTile <= l1)
      return wholeKeyTile;
    bool oneFma = startsOneFma(target) && !tiles;
    int64_t cache = oneFma ? 4 * l1 : l1;
    int64_t most = tiles || (oneFma && !(pairs && kernel.masked)) ? 128 : 96;
    int64_t fits = pairs || tiles ? cache * 2 / 3 / (4 * queryBlock + 2 * dim)
                                  : cache * 3 / 4 / (bytes * dim);
    int64_t unit = fillsRegisters ? sizes.unroll : sizes.rows;
    return std::clamp<int64_t>(fits, tiles ? 64 : 48, most) / unit * unit;
  }

  /// The schedule of kind prefill for features of size `dim`, computed in f64
  /// or f32, or, of bf16, in pairs or tiles; `narrow` keys or values are
  /// converted tile by tile.
  CPUScheduleAttr prefill(const PrefillKernel &kernel, int64_t dim, bool isF64,
                          bool narrow = false) {
    const PrefillSizes &sizes = prefillSizes(target, kernel);
    int64_t bytes = isF64 ? 8 : 4;
    bool tiles = kernel.products == Products::Amx;
    int64_t lanes = tiles ? tileLanes : target.getLanes() * 4 / bytes;
    int64_t queryBlock = lanes * sizes.vectors, queries = sizes.queries;
    if (narrow && !kernel.masked && !tiles && target.getLanes() >= 16)
      queries = 192;
    return prefillSchedule(
        sizes, lanes, queryTile(kernel.queries, queryBlock, queries),
        keysOfTile(kernel, sizes, dim, bytes, queryBlock), kernel.products);
  }

  /// How numbers of bf16 are multiplied, by tiles where these are filled.
  Products productsOfBF16(bool fillsTiles = true) {
    if (target.getProducts() == Products::Amx && fillsTiles)
      return Products::Amx;
    return target.getPairChains() > 0 ? Products::Dot : Products::Fma;
  }

  /// Whether padding less than doubles the products of tiles.
  static bool fillsTiles(int64_t keyDim, int64_t valueDim) {
    auto padded = [](int64_t dim, int64_t unit) {
      return static_cast<int64_t>(
          llvm::alignTo(static_cast<uint64_t>(dim), unit));
    };
    return padded(keyDim, 32) + padded(valueDim, 16) <= 2 * (keyDim + valueDim);
  }

  /// The same with split keys, where the lengths of `op` may ask for it.
  CPUScheduleAttr withSplitKeys(SdpaOp op, CPUScheduleAttr single) {
    if (prefillSplitKeys == 0 || prefillSplitKeys >= longestSequence)
      return single;
    int64_t keyTile = single.getKeyTile();
    int64_t tiles = std::max<int64_t>(prefillSplitKeys / keyTile, 1);
    auto split = CPUScheduleAttr::get(
        &getContext(), single.getLanes(), single.getRows(), single.getVectors(),
        single.getQueryTile(), keyTile, single.getUnroll(),
        single.getPrefetch(), Kind::Prefill, tiles * keyTile,
        prefillSplitQueries, single.getProducts(), single.getBlock(),
        single.getInterleave());
    if (splitsKeys(op, split) == false)
      return single;
    StringRef why = op.whyKeysStayTogether();
    if (why.empty())
      return split;
    remark::missed(op.getLoc(), remark::RemarkOpts::name("KeysStayTogether")
                                    .category("attn-assign-schedule"))
        << ("the keys of few queries are not split into parallel items: " + why)
               .str();
    return single;
  }

  CPUScheduleAttr decode(const DecodeKernel &kernel, bool isF64) {
    const DecodeSizes &sizes = decodeSizes(target, kernel);
    int64_t fits = target.getL1Bytes() * sizes.cacheQuarters / 4 /
                   std::max<int64_t>(kernel.rowBytes, 1);
    int64_t unit = kernel.mostQueries == 1 ? 16 : 2;
    int64_t keys = std::clamp<int64_t>(fits, sizes.leastKeys, sizes.mostKeys) /
                   unit * unit;
    return CPUScheduleAttr::get(
        &getContext(), target.getLanes() / (isF64 ? 2 : 1), sizes.rows,
        sizes.vectors, kernel.mostQueries, keys, sizes.unroll, /*prefetch=*/2,
        Kind::Decode, decodeSplitKeys / keys * keys, /*split_queries=*/0,
        kernel.pairs ? Products::Dot : Products::Fma, sizes.block,
        sizes.interleave);
  }

  static int64_t rowBytes(SdpaOp op) {
    auto bytes = [](RankedTensorType type) {
      return type.getShape().back() *
             static_cast<int64_t>(type.getElementTypeBitWidth()) / 8;
    };
    return std::max(bytes(op.getKey().getType()),
                    bytes(op.getValue().getType()));
  }

  /// The schedule of kind decode, where the op may have so few queries; whether
  /// it has no others.
  bool assignDecode(SdpaOp op, bool bf16) {
    RankedTensorType q = op.getQuery().getType(), v = op.getValue().getType();
    int64_t queries = q.getDimSize(op.queryDims().sequence);
    bool isF64 = q.getElementType().isF64();
    int64_t lanes = target.getLanes(), group = packedHeads(op);
    int64_t most =
        std::min(fewQueries, maxDecodeRows / std::max<int64_t>(group, 1));
    bool known = !ShapedType::isDynamic(queries);
    bool few = known && queries <= most;
    if (group <= 0 || most <= 0 || lanes * (isF64 ? 2 : 4) < 16 ||
        (known && !few && !countsDocuments(op)))
      return false;
    bool wholePairs = q.getShape().back() % (2 * lanes) == 0 &&
                      v.getShape().back() % (2 * lanes) == 0;
    DecodeKernel kernel;
    kernel.mostQueries = group * (few ? queries : most);
    kernel.usualQueries = group * (few ? queries : 1);
    kernel.keyBits = op.getKey().getType().getElementTypeBitWidth();
    kernel.valueBits = v.getElementTypeBitWidth();
    kernel.rowBytes = rowBytes(op);
    kernel.pairs =
        bf16 && target.getPairChains() > 0 && group > 1 && wholePairs;
    op.setDecodeScheduleAttr(decode(kernel, isF64));
    return few;
  }

  void assign(SdpaOp op) {
    RankedTensorType q = op.getQuery().getType(), v = op.getValue().getType();
    int64_t keyDim = q.getShape().back(), valueDim = v.getShape().back();
    bool bf16 = !op.isSigmoid() && !op.getSeed() &&
                q.getElementType().isBF16() && v.getElementType().isBF16();
    if (!op.getSeed() && assignDecode(op, bf16))
      return;
    PrefillKernel kernel;
    kernel.isAttention = kernel.isForward = true;
    kernel.masked = op.getMaskAttr() && !op.seesLeadingKeys();
    kernel.queries = q.getDimSize(op.queryDims().sequence);
    kernel.products = Products::Fma;
    if (bf16)
      kernel.products = productsOfBF16(fillsTiles(keyDim, valueDim));
    bool narrow = q.getElementType().getIntOrFloatBitWidth() < 32 ||
                  v.getElementType().getIntOrFloatBitWidth() < 32;
    CPUScheduleAttr chosen = prefill(kernel, std::max(keyDim, valueDim),
                                     q.getElementType().isF64(), narrow);
    op.setScheduleAttr(withSplitKeys(op, chosen));
  }

  /// Gradients have the tiles of attention in numbers of the statistics' type.
  void assign(SdpaGradOp op) {
    RankedTensorType q = op.getQuery().getType(), v = op.getValue().getType();
    PrefillKernel kernel;
    kernel.isAttention = true;
    kernel.masked = static_cast<bool>(op.getMaskAttr());
    kernel.queries = q.getDimSize(op.queryDims().sequence);
    kernel.products = Products::Fma;
    CPUScheduleAttr whole =
        prefill(kernel, std::max(q.getShape().back(), v.getShape().back()),
                q.getElementType().isF64());
    // 128 rows of 256 bytes meet in all ways of a level-1 cache of 32 KiB, and
    // what biases read between them drives some out.
    int64_t keys = whole.getKeyTile();
    if (op.getBias())
      keys = std::min<int64_t>(keys, 96 / whole.getRows() * whole.getRows());
    int64_t part = prefillSplitKeys ? partOfGradient : 0;
    op.setScheduleAttr(CPUScheduleAttr::get(
        &getContext(), whole.getLanes(), whole.getRows(), whole.getVectors(),
        whole.getQueryTile(), keys, whole.getUnroll(), whole.getPrefetch(),
        Kind::Prefill, part / keys * keys,
        /*split_queries=*/part ? longestSequence : 0, whole.getProducts(),
        whole.getBlock(), whole.getInterleave()));
  }

  /// For rows that no attention computes.
  CPUScheduleAttr rowsSchedule(int64_t rows, int64_t dim, Type element) {
    return prefill({Products::Fma, /*isAttention=*/false, /*masked=*/false,
                    /*queries=*/rows},
                   dim, element.isF64());
  }

  CPUScheduleAttr project(ProjectOp op, Products products) {
    const ProjectSizes &sizes = projectSizes(target, products);
    int64_t wide = op.getType().getElementType().isF64() ? 2 : 1;
    int64_t lanes =
        products == Products::Amx ? tileLanes : target.getLanes() / wide;
    // Where two multiply-adds of 512 bits start per cycle, rows of a panel come
    // as fast as a level-2 cache gives them, and what is fetched from behind it
    // in between must be little at a time.
    bool isEven = target.getLanes() >= 16 && target.getChains() >= 8 &&
                  products == Products::Fma;
    return prefillSchedule(
        {sizes.rows, sizes.vectors, sizes.unroll, 0}, lanes, sizes.tileRows,
        sizes.depth / wide / sizes.rows * sizes.rows, products,
        /*prefetch=*/isEven ? 1 : 2);
  }

  /// A weight of bf16 that is no constant is packed first, unless rows are few.
  void assign(ProjectOp op) {
    auto isBF16 = [](Value matrix) {
      return getElementTypeOrSelf(matrix).isBF16();
    };
    bool inPairs = isBF16(op.getInput()) && isBF16(op.getWeight());
    CPUScheduleAttr usual =
        project(op, inPairs ? productsOfBF16() : Products::Fma);
    op.setScheduleAttr(usual);
    int64_t few = mostRowsInNumbers(usual), rows = op.rowsOfProduct();
    bool isKnown = !ShapedType::isDynamic(rows);
    if (few == 0 || (isKnown && rows > few) ||
        matchPattern(op.getWeight(), m_Constant()))
      return;
    CPUScheduleAttr inNumbers = project(op, Products::Fma);
    if (isKnown)
      op.setScheduleAttr(inNumbers);
    else
      op.setFewRowsScheduleAttr(inNumbers);
  }

  /// The head takes the schedules of every kind of target.
  WalkResult expectCPUSchedules(Operation *op) {
    for (NamedAttribute attribute : op->getAttrs())
      if (isa<GPUScheduleAttr>(attribute.getValue()))
        return op->emitOpError() << "expects " << attribute.getName().getValue()
                                 << " to be for a CPU on this target, but got "
                                 << attribute.getValue();
    return WalkResult::advance();
  }

  void runOnOperation() override {
    if (getOperation()
            ->walk([&](Operation *op) { return expectCPUSchedules(op); })
            .wasInterrupted())
      return signalPassFailure();
    target = TargetAttr::of(getOperation());
    getOperation()->walk([&](SdpaOp op) {
      if (!op.getScheduleAttr() && !op.getDecodeScheduleAttr())
        assign(op);
    });
    getOperation()->walk([&](SdpaGradOp op) {
      if (!op.getScheduleAttr())
        assign(op);
    });
    getOperation()->walk([&](ProjectOp op) {
      if (!op.getScheduleAttr())
        assign(op);
    });
    getOperation()->walk([&](Operation *op) {
      llvm::TypeSwitch<Operation *>(op).Case<MergeStatesOp, FinalizeStateOp>(
          [&](auto state) {
            RankedTensorType acc = state.getAcc().getType();
            if (!state.getScheduleAttr())
              state.setScheduleAttr(
                  rowsSchedule(acc.getDimSize(acc.getRank() - 2),
                               acc.getShape().back(), acc.getElementType()));
          });
    });
  }
};
} // namespace
