// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One schedule per kind of target. What passes in front of the back ends ask of
// it is Attn_ScheduleInterface.
#ifndef ATTN_SCHEDULES_TD
#define ATTN_SCHEDULES_TD

include "attn/Dialect/Attn/IR/AttnInterfaces.td"
include "attn/Dialect/Attn/IR/AttnTypes.td"

def Attn_CPUScheduleAttr : Attn_Attr<"CPUSchedule", "cpu_schedule",
                                     [Attn_ScheduleInterface]> {
  let summary = "tile sizes of a kernel for a CPU";
  let description = [{
    All sizes a lowering needs. `lanes` is the number of f32 values in a vector
    register. A register tile has `rows` keys (or value dimensions) times
    `vectors` vectors of queries; a query block is `lanes * vectors` queries. A query
    tile has `query_tile` rows (a multiple of the query block), a key tile `key_tile`
    keys (a multiple of `rows`). `unroll` counts steps of the two products'
    inner loops. `prefetch` is the locality of software prefetches, 0 for none.

    In kind `decode`, for few queries, lanes hold features instead: a register
    tile of the scores has `rows` keys times `block` queries (4 or 8), one of the
    context `block` queries times `vectors` vectors of features. In the scores a
    vector holds features of `interleave` queries, to which those of a key are
    repeated: what is left to add up are `lanes / interleave` lanes. A query tile
    holds all queries of a group of heads, at most `query_tile`, and an item has
    `split_keys` keys (a multiple of `key_tile`); the parts of a sequence are
    merged.

    In kind `prefill`, `split_keys` cuts keys into such items as well, where a
    head has at most `split_queries` queries and keys for two parts; 0 never.

    `products` is `fma`, one FMA per number, or, of bf16, `dot`:
    both products add up dot products of two numbers; or `amx`: they multiply
    matrices of 16 x 32 with 32 x 16 numbers, and a register of a register tile
    holds 16 x 16 sums, of which it has `rows / 16` times `vectors`.
    In a projection, lanes are columns: a panel has `lanes * vectors` of them, a
    block `rows` rows of the input, a tile `query_tile` rows and some panels, and
    `key_tile` products are added before the next tile of the weight. With `amx` a
    register holds 16 rows of a block, of which it has `rows / 16`, and a panel has
    16 columns for each of `vectors`.

    `assign-schedule` derives it from the target; written by hand it pins.
  }];
  let parameters = (ins "int64_t":$lanes, "int64_t":$rows, "int64_t":$vectors,
                        "int64_t":$query_tile, "int64_t":$key_tile,
                        "int64_t":$unroll, "int64_t":$prefetch,
                        Attn_KindParameter:$kind,
                        DefaultValuedParameter<"int64_t", "0">:$split_keys,
                        DefaultValuedParameter<"int64_t", "0">:$split_queries,
                        Attn_ProductsParameter:$products,
                        DefaultValuedParameter<"int64_t", "4">:$block,
                        DefaultValuedParameter<"int64_t", "1">:$interleave);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// Queries in one query block.
    int64_t getQueryBlock() const { return getLanes() * getVectors(); }
    /// Columns of a tile of a projection: as many panels as keep sums that wait
    /// in a level-2 cache.
    int64_t getColumnTile() const {
      return std::max<int64_t>(1, 768 / getQueryBlock()) * getQueryBlock();
    }
    /// What is left of `rows` rows at the end becomes blocks of so many: a power
    /// of two, since a third of six would be too few sums at a time.
    static int64_t getSmallerBlock(int64_t rows) {
      int64_t smaller = 1;
      while (2 * smaller < rows)
        smaller *= 2;
      return smaller;
    }
    /// Few rows read a weight from memory, which is fastest from end to end of
    /// its rows: tiles of so many rows at most have more columns.
    int64_t getFewRows() const { return getSmallerBlock(getRows()); }
    int64_t getWideColumnTile() const {
      return (2047 / getQueryBlock() + 1) * getQueryBlock();
    }
    bool runsInBlocks() const { return false; }
    int64_t getFeatureMultiple() const {
      return usesDot() && getKind() == Kind::Decode ? 2 * getLanes() : 1;
    }
    bool usesAmx() const { return getProducts() == Products::Amx; }
    /// How panels of a weight hold its rows: in pairs of two rows, for tiles in
    /// groups of 16 pairs, of which the last may lack some.
    int64_t getRowsPerProduct() const { return usesAmx() ? 16 : 1; }
    int64_t getNumbersPerElement() const { return usesDot() ? 2 : 1; }
    int64_t getPanelRows(int64_t depth) const {
      int64_t unit = getRowsPerProduct();
      return (depth + unit * getNumbersPerElement() - 1) /
             (unit * getNumbersPerElement()) * unit;
    }
    int64_t getPanelWidth() const {
      return getNumbersPerElement() * getQueryBlock();
    }

    /// That of an op behind attn-assign-schedule for a CPU.
    template <typename ScheduledOp>
    static CPUScheduleAttr of(ScheduledOp op) {
      return ::llvm::cast<CPUScheduleAttr>(op.getScheduleAttr());
    }
  }];
  let genVerifyDecl = 1;
}

def Attn_GPUScheduleAttr : Attn_Attr<"GPUSchedule", "gpu_schedule",
                                     [Attn_ScheduleInterface]> {
  let summary = "tile sizes of a kernel for a GPU";
  let description = [{
    A block of `warps` warps has `query_tile` queries, of which every warp has
    equally many, and goes through the keys in steps of `key_tile`. Queries, keys
    and values of a step lie in shared memory.

    In kind `decode` the queries are those of a group of heads, and a block has
    `split_keys` keys; the parts of a sequence are merged.

    Of a product a block has `query_tile` rows and `key_tile` columns, and
    `column_warps` warps share the columns of the same rows. So many blocks as
    `feature_parts` have the same tile and each a part of the features; their
    sums are added behind.

    `assign-schedule` takes it from a table; written by hand it pins.
  }];
  let parameters = (ins "int64_t":$query_tile, "int64_t":$key_tile,
                        "int64_t":$warps, Attn_KindParameter:$kind,
                        DefaultValuedParameter<"int64_t", "0">:$split_keys,
                        DefaultValuedParameter<"int64_t", "1">:$column_warps,
                        DefaultValuedParameter<"int64_t", "1">:$feature_parts);
  let builders = [AttrBuilder<(ins "int64_t":$queryTile, "int64_t":$keyTile,
                                   "int64_t":$warps, "Kind":$kind,
                                   "int64_t":$splitKeys,
                                   CArg<"int64_t", "1">:$columnWarps,
                                   CArg<"int64_t", "1">:$featureParts), [{
    return $_get($_ctxt, queryTile, keyTile, warps, kind, splitKeys, columnWarps,
                 featureParts);
  }]>];
  let skipDefaultBuilders = 1;
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    Products getProducts() const { return Products::Fma; }
    int64_t getSplitQueries() const { return 0; }
    int64_t getFeatureMultiple() const { return 1; }
    bool runsInBlocks() const { return true; }

    /// Threads of a warp.
    static constexpr int64_t warpThreads = 32;
    int64_t getThreads() const { return getWarps() * warpThreads; }

    /// Tiles of a product are halved where there are fewer: a chip has about
    /// 100 multiprocessors, and half a tile takes a third of a whole one's time.
    static constexpr int64_t leastTiles = 96;
    /// So many tiles or fewer may have parts of features.
    static constexpr int64_t mostTilesInParts = 160, mostFeatureParts = 8;
    /// The same with the features of a product in parts, so that so many tiles
    /// become blocks for the whole chip; in one part where the features are too
    /// few, or not even.
    GPUScheduleAttr getInParts(int64_t tiles, int64_t features,
                               ::mlir::Type element) const;
    /// Whether a product's features are divided into equal parts of a multiple
    /// of 64.
    bool dividesEvenly(int64_t features) const {
      return getFeatureParts() == 1 || features % (64 * getFeatureParts()) == 0;
    }
    /// Half as many columns, and rows where a warp has more than 16.
    GPUScheduleAttr getHalf() const;
    /// The same for no more than so many columns of a product.
    GPUScheduleAttr getNarrow(int64_t columns) const;

    /// Shared memory of a block: its queries, and the keys and values of a step.
    /// Features are padded to 16, and rows by 16 bytes.
    int64_t sharedBytes(int64_t keyFeatures, int64_t valueFeatures,
                        ::mlir::Type element) const;

    /// That of an op behind attn-assign-schedule for a GPU.
    template <typename ScheduledOp>
    static GPUScheduleAttr of(ScheduledOp op) {
      return ::llvm::cast<GPUScheduleAttr>(op.getScheduleAttr());
    }
  }];
  let genVerifyDecl = 1;
}

#endif
