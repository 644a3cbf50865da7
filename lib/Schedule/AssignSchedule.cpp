// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the tile sizes of every kernel from a description of the target.
//
// Before:  attn.sdpa %q, %k, %v scale 0.125 : (..) -> ..
// After:   attn.sdpa %q, %k, %v scale 0.125
//            {schedule = #attn.schedule<lanes = 8, rows = 6, vectors = 2, ...>}
//
// Lanes are queries; f64 has half as many as f32. A register tile holds rows x
// vectors accumulators; the smaller side stays in registers while the longer is
// streamed one register at a time, so it needs rows*vectors + min(rows,
// vectors) + 1 registers, one is kept to spare, and enough independent chains
// to hide the latency of an FMA:
//   16 registers             6 x 2   (15 used, 0.67 loads per FMA)
//   32 registers,  8 chains  4 x 4   (21 used, 0.50), with a mask
//                            8 x 2   (19 used, 0.63)
//   32 registers, 16 chains  4 x 5   (25 used, 0.45; LLVM spills 4 x 6)
//   32 registers,  4 chains  8 x 1   (10 used, 1.13)
// A quarter more chains than hide the latency are wanted. Fewer vectors are
// preferred: a ragged query tile wastes fewer lanes, and the edge of a mask
// fewer pairs. Of latency 4, 4 chains are one FMA per cycle, which leaves two
// loads for each. A query tile holds as many panels as give about 128 queries;
// with registers of 512 bits and without a mask, about 192 where keys or values
// are narrower than what is computed: more queries share what converting them
// takes (half a point; f32 gains nothing, AVX2 neither).
// A key tile takes three quarters of the level-1 cache, but between 48 and 96
// keys; at one FMA per cycle four times as much, but at most 128, for then the
// level-2 cache is fast enough.
//
// Where query, key and value are bf16 and the target has dot products of pairs,
// they are used. Of latency 6, they want 12 chains, for which the tiles of 8
// are enough; 8 x 1 would want the scalar of a product read by its
// instruction, which LLVM does not do for pairs. A key tile is what takes two
// thirds of the cache together with a panel's scores, with the same limits, but
// with a mask at most 96 keys. All of this was measured; docs/Experiments.md
// says on what.
//
// Without a mask, or with lengths alone, which bound the loops, sdpa takes all
// of 16 registers, and eight turns:
//   16 registers             4 x 3   (16 used, 0.58 loads per FMA)
// That is 1.6 instructions per FMA instead of 1.8. On an idle core it gains
// half a point, but where another thread shares the core's front end and load
// ports, 2 to 4 points. A mask wants the smaller blocks of 6 x 2 on its edges:
// causal attention of 512 queries would lose a point. A known number of queries
// below 144, a tile of 4 x 3, keeps 6 x 2 too. Panels of three vectors do not
// divide most lengths, so that some hold two (Panels.h in AttnToCPU). A key
// tile has 128 keys where the cache holds them at all: 128 keys in one step
// instead of 96 and 32 gain 1.5 points, 512 half a point.
//
// Where the processor multiplies tiles of bf16 in registers of their own (8 of
// 16 x 16 f32), those take the place of pairs:
//   2 x 2 sums of 16 keys x 16 queries, 2 + 1 operands   7 of 8 registers
// so a register tile has 32 rows and 2 vectors. Products cost a tenth of those
// of pairs; what is left is exp2 and, per tile of keys, transposing the values,
// which more queries share: a query tile has about 256. The key tile is chosen
// as for pairs, between 64 and 128. Products are padded to multiples of 32 (key
// dim) and 16 (value dim): tiles are used where that does not double them. None
// of this was measured, only counted.
//
// Few queries (kind decode) read keys and values from memory once. For a single
// one a tile of keys takes four times the level-1 cache: nothing is read again,
// and every change between keys and values ends a stream that the processor
// prefetches. For more, a tile is what the next one is prefetched behind:
//   queries of a group   32 registers                 16
//   2 to 4               1 key x 4, 16 keys           3 x 4, 3/4 of the cache
//   5 to 8, 13 to 16 ..  2 to 8 keys x 8, 48 to 128   the same
//   others               4 keys x 4, 3/4 of the cache the same
// 2 to 4 queries wait for memory, which is read fastest in its own order: row
// after row, not 4 rows abreast (rows of 1024 bytes: 50 % of a plain read, and
// 75 so). For 8 queries each number is loaded, and each of f16 converted, once
// instead of twice. Then 8 chains hide the latency of one multiply-add per
// cycle, and a broadcast that only one of them needs is part of it (8 x 1).
// 16 registers are all in use in a block, so that a turn is one key, or one
// vector of features: what a second one loads would spill. Several heads that
// share keys of bf16 multiply pairs as well, where no head dimension leaves a
// vector of them incomplete. What registers of 512 bits take to add up their 16
// lanes is a sixth of the time of f32, a third of pairs. There the lanes of
// scores are 4 features of 4 queries, and 8 keys are read by a load that
// repeats 128 bits: 10 instructions for 16 scores instead of 45. Single numbers
// of 16 bits are converted each time that they are read, so that they take 8
// features of 2 queries, and 4 keys. f64 gains nothing.
//
// An item of kind prefill sees all keys, unless a head has few tiles of queries
// and many keys: then it sees 4096 of them. That is work for a millisecond,
// beside which saving and merging a state of 128 rows is nothing. More than
// 1024 queries per head are items enough.
//
// An op that carries a schedule keeps it, so that a test or a user can pin it.
// Before: ops of the fused level. After: every sdpa, project, merge_states and
// finalize_state has a schedule.
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Utils/DecodeRows.h"
#include "attn/Schedule/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace attn {
#define GEN_PASS_DEF_ASSIGNSCHEDULE
#include "attn/Schedule/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// The most queries per head for which lanes hold features, and the most rows
/// of a group of heads; keys of one parallel item.
static constexpr int64_t fewQueries = 15, maxDecodeRows = 128, splitKeys = 1024;

/// No row of so many numbers fits into a cache. (More could overflow.)
static constexpr int64_t wholeCache = int64_t(1) << 40;

/// Queries of a block in kind decode, unless there are enough for a large one.
static constexpr int64_t usualBlock = 4, largeBlock = 8;

/// The most queries per head for which kind prefill splits keys.
static constexpr int64_t prefillSplitQueries = 1024;

namespace {
struct AssignSchedule : attn::impl::AssignScheduleBase<AssignSchedule> {
  using AssignScheduleBase::AssignScheduleBase;

  /// Rows and vectors of a register tile.
  struct RegisterTile {
    int64_t rows, vectors;
  };

  ScheduleAttr prefillSchedule(int64_t lanes, RegisterTile registers,
                               int64_t queryTile, int64_t keyTile,
                               int64_t unroll, Products products) {
    return ScheduleAttr::get(&getContext(), lanes, registers.rows,
                             registers.vectors, queryTile, keyTile, unroll,
                             /*prefetch=*/2, Kind::Prefill, /*split_keys=*/0,
                             /*split_queries=*/0, products, usualBlock,
                             /*interleave=*/1);
  }

  /// About `most` queries in whole panels, but no more than there are.
  static int64_t queryTile(int64_t queries, int64_t panel, int64_t most) {
    int64_t tile = std::max<int64_t>(1, most / panel) * panel;
    if (ShapedType::isDynamic(queries))
      return tile;
    auto needed = static_cast<int64_t>(
        llvm::alignTo(static_cast<uint64_t>(queries), panel));
    return std::min(tile, std::max(panel, needed));
  }

  /// Rows of keys or values in three quarters of the level-1 cache.
  int64_t cachedRows(int64_t dim, int64_t bytes) const {
    dim = std::clamp<int64_t>(dim, 1, wholeCache);
    return l1Bytes * 3 / 4 / (bytes * dim);
  }

  /// The schedule without a mask on 16 registers with FMA, for tiles of that
  /// many queries; elsewhere null.
  ScheduleAttr fullRegisters(int64_t queries, int64_t dim, bool isF64) {
    constexpr int64_t turns = 8, queryTile = 144, wholeKeyTile = 128;
    bool fillsTile = ShapedType::isDynamic(queries) || queries >= queryTile;
    if (registers >= 32 || this->lanes <= 4 || !fillsTile)
      return {};
    int64_t bytes = isF64 ? 8 : 4, lanes = this->lanes * 4 / bytes;
    int64_t keyTile =
        std::clamp<int64_t>(cachedRows(dim, bytes), 48, 96) / turns * turns;
    if (bytes * dim * wholeKeyTile <= l1Bytes)
      keyTile = wholeKeyTile;
    return prefillSchedule(lanes, {4, 3}, queryTile, keyTile, turns,
                           Products::Single);
  }

  /// Whether the processor starts one multiply-add per cycle.
  bool oneAtATime() const { return registers >= 32 && chains <= 4; }

  RegisterTile registerTile(bool pairs, bool masked) const {
    if (registers < 32)
      return {6, 2};
    if (oneAtATime() && !pairs)
      return {8, 1};
    int64_t wanted = (pairs ? pairChains : chains) * 5 / 4;
    if (masked && wanted <= 16)
      return {8, 2};
    return {4, std::max<int64_t>(4, (wanted + 3) / 4)};
  }

  /// Keys of a tile for panels of so many queries.
  int64_t keysOfTile(int64_t dim, int64_t bytes, int64_t panel, bool pairs,
                     bool masked) const {
    dim = std::min(dim, wholeCache);
    int64_t cache = oneAtATime() ? 4 * l1Bytes : l1Bytes;
    int64_t most = oneAtATime() && !(pairs && masked) ? 128 : 96;
    int64_t fits = pairs ? cache * 2 / 3 / (4 * panel + 2 * dim)
                         : cache * 3 / 4 / (bytes * std::max<int64_t>(dim, 1));
    return std::clamp<int64_t>(fits, 48, most);
  }

  /// The schedule for `queries` rows (or unknown) and features of size `dim`,
  /// computed in f64 or f32, or, of bf16, in `pairs`; `narrow` keys or values
  /// are converted tile by tile. 16 registers leave room for the addresses of
  /// `turns` turns.
  ScheduleAttr schedule(int64_t queries, int64_t dim, bool isF64, int64_t turns,
                        bool pairs = false, bool masked = false,
                        bool narrow = false) {
    int64_t bytes = isF64 ? 8 : 4, lanes = this->lanes * 4 / bytes;
    bool manyRegisters = registers >= 32;
    RegisterTile tile = registerTile(pairs, masked);
    int64_t panel = lanes * tile.vectors;
    // Without FMA a product needs a register of its own: no room to unroll.
    bool fused = manyRegisters || this->lanes > 4;
    int64_t unroll = manyRegisters ? 4 : fused ? turns : 1;
    int64_t keyTile =
        keysOfTile(dim, bytes, panel, pairs, masked) / tile.rows * tile.rows;
    int64_t most = narrow && !masked && this->lanes >= 16 ? 192 : 128;
    return prefillSchedule(lanes, tile, queryTile(queries, panel, most),
                           keyTile, unroll,
                           pairs ? Products::Pairs : Products::Single);
  }

  /// The same for bf16 in tiles.
  ScheduleAttr tileSchedule(int64_t queries, int64_t dim) {
    constexpr int64_t lanes = 16;
    constexpr RegisterTile tile{32, 2};
    constexpr int64_t panel = lanes * tile.vectors;
    int64_t fits = l1Bytes * 2 / 3 / (4 * panel + 2 * dim);
    int64_t keyTile =
        std::clamp<int64_t>(fits, 64, 128) / tile.rows * tile.rows;
    return prefillSchedule(lanes, tile, queryTile(queries, panel, 256), keyTile,
                           /*unroll=*/1, Products::Tiles);
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
  ScheduleAttr withSplitKeys(SdpaOp op, ScheduleAttr single) {
    if (prefillSplitKeys == 0)
      return single;
    int64_t keyTile = single.getKeyTile();
    int64_t tiles = std::max<int64_t>(prefillSplitKeys / keyTile, 1);
    auto split = ScheduleAttr::get(
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

  /// Queries of a group of heads: the most that a state of kind decode can
  /// hold, and, where their number is unknown, those of one query per head.
  struct StateRows {
    int64_t most, usual;
  };

  /// Sizes of a kernel of kind decode.
  struct DecodeSizes {
    RegisterTile registers;
    int64_t keys, unroll, block, interleave = 1;
  };

  /// The head of this file says why.
  DecodeSizes decodeSizes(SdpaOp op, const StateRows &rows, bool pairs) const {
    bool manyRegisters = registers >= 32;
    int64_t keyBits = op.getKey().getType().getElementTypeBitWidth(),
            valueBits = op.getValue().getType().getElementTypeBitWidth(),
            rowBytes = AssignSchedule::rowBytes(op);
    bool oneBlock = rows.usual > 1 && rows.usual <= usualBlock;
    // No more rows that are no queries than in blocks of 4.
    bool evenBlocks = (rows.usual + usualBlock - 1) / usualBlock % 2 == 0;
    bool waits = oneBlock && valueBits >= 32; // for memory, whatever it does
    auto cached = [&](int64_t bytes, int64_t least, int64_t most) {
      int64_t keys = bytes / std::max<int64_t>(rowBytes, 1);
      return std::clamp<int64_t>(keys, least, most) / 2 * 2;
    };
    if (rows.most == 1) {
      int64_t keys = cached(l1Bytes * 4, 48, splitKeys) / 16 * 16;
      RegisterTile tile{manyRegisters ? 4 : 3, manyRegisters ? 4 : 3};
      return {tile, keys, manyRegisters && !pairs ? 4 : 2, usualBlock};
    }
    if (manyRegisters && lanes == 16 && evenBlocks) {
      int64_t interleave = pairs || keyBits == 32 ? 4 : keyBits == 16 ? 2 : 1;
      return {
          {2 * interleave, oneAtATime() && !pairs ? 1 : 2},
          cached(keyBits == 32 ? l1Bytes : l1Bytes * 4, 48, pairs ? 96 : 128),
          /*unroll=*/pairs ? 4 : 2,
          largeBlock,
          interleave};
    }
    if (manyRegisters && lanes == 16 && waits)
      return {{1, 1}, /*keys=*/16, /*unroll=*/4, usualBlock};
    int64_t keys = cached(l1Bytes * 3 / 4, 48, pairs ? 64 : 96);
    if (manyRegisters)
      return {{4, 4}, keys, pairs ? 2 : 4, usualBlock};
    if (lanes == 8 && waits && rowBytes >= 1024)
      return {{2, 2}, keys, /*unroll=*/2, usualBlock};
    if (lanes == 8) // all registers; a second turn's loads would spill
      return {{3, 3}, keys, /*unroll=*/1, usualBlock};
    return {{3, valueBits < 32 ? 2 : 3}, keys, /*unroll=*/2, usualBlock};
  }

  ScheduleAttr decodeSchedule(const StateRows &rows, const DecodeSizes &tile,
                              bool isF64, bool pairs) {
    return ScheduleAttr::get(
        &getContext(), lanes / (isF64 ? 2 : 1), tile.registers.rows,
        tile.registers.vectors, rows.most, tile.keys, tile.unroll,
        /*prefetch=*/2, Kind::Decode, splitKeys / tile.keys * tile.keys,
        /*split_queries=*/0, pairs ? Products::Pairs : Products::Single,
        tile.block, tile.interleave);
  }

  static int64_t rowBytes(SdpaOp op) {
    auto bytes = [](RankedTensorType type) {
      return type.getShape().back() *
             static_cast<int64_t>(type.getElementTypeBitWidth()) / 8;
    };
    return std::max(bytes(op.getKey().getType()),
                    bytes(op.getValue().getType()));
  }

  void assign(SdpaOp op) {
    RankedTensorType q = op.getQuery().getType(), v = op.getValue().getType();
    int64_t dim = std::max(q.getShape().back(), v.getShape().back());
    int64_t queries = q.getDimSize(op.queryDims().sequence);
    bool isF64 = q.getElementType().isF64();
    bool known = !ShapedType::isDynamic(queries);
    int64_t group = packedHeads(op);
    int64_t most =
        std::min(fewQueries, maxDecodeRows / std::max<int64_t>(group, 1));
    bool few = known && queries <= most;
    bool decode = group > 0 && most > 0 && lanes * (isF64 ? 2 : 4) >= 16 &&
                  (!known || few || countsDocuments(op));
    bool bf16 = !op.isSigmoid() && q.getElementType().isBF16() &&
                v.getElementType().isBF16();
    if (decode) {
      bool whole = q.getShape().back() % (2 * lanes) == 0 &&
                   v.getShape().back() % (2 * lanes) == 0;
      bool pairs = bf16 && pairChains > 0 && group > 1 && whole;
      StateRows rows{group * (few ? queries : most),
                     group * (few ? queries : 1)};
      op.setDecodeScheduleAttr(
          decodeSchedule(rows, decodeSizes(op, rows, pairs), isF64, pairs));
    }
    if (decode && few)
      return;
    bool inTiles =
        bf16 && tiles && fillsTiles(q.getShape().back(), v.getShape().back());
    bool masked = op.getMaskAttr() && !op.seesLeadingKeys();
    bool narrow = q.getElementType().getIntOrFloatBitWidth() < 32 ||
                  v.getElementType().getIntOrFloatBitWidth() < 32;
    ScheduleAttr chosen;
    if (inTiles)
      chosen = tileSchedule(queries, dim);
    else if (!masked)
      chosen = fullRegisters(queries, dim, isF64);
    if (!chosen)
      chosen = schedule(queries, dim, isF64, /*turns=*/4,
                        /*pairs=*/bf16 && pairChains > 0, masked, narrow);
    op.setScheduleAttr(withSplitKeys(op, chosen));
  }

  void runOnOperation() override {
    getOperation()->walk([&](SdpaOp op) {
      if (!op.getScheduleAttr() && !op.getDecodeScheduleAttr())
        assign(op);
    });
    getOperation()->walk([&](ProjectOp op) {
      if (!op.getScheduleAttr())
        op.setScheduleAttr(schedule(ShapedType::kDynamic,
                                    op.getWeight().getType().getDimSize(1),
                                    op.getType().getElementType().isF64(),
                                    /*turns=*/2));
    });
    getOperation()->walk([&](Operation *op) {
      llvm::TypeSwitch<Operation *>(op).Case<MergeStatesOp, FinalizeStateOp>(
          [&](auto state) {
            auto acc = state.getAcc().getType();
            if (!state.getScheduleAttr())
              state.setScheduleAttr(schedule(acc.getDimSize(acc.getRank() - 2),
                                             acc.getShape().back(),
                                             acc.getElementType().isF64(),
                                             /*turns=*/2));
          });
    });
  }
};
} // namespace
