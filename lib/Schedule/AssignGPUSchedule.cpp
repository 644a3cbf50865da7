// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the tile sizes of every attention from the table of a GPU.
//
// Before:  attn.sdpa %q, %k, %v scale 0.125 : (..) -> ..
// After:   attn.sdpa %q, %k, %v scale 0.125
//            {schedule = #attn.gpu_schedule<query_tile = 128, key_tile = 64,
//            warps = 4>}
//
// Few queries, or an unknown number, get a schedule of kind decode too: the
// heads of a group are rows of one block, and blocks share the keys.
//
// What no kernel of a GPU does is refused by its name, at the op. An op that
// carries a schedule for a GPU keeps it.
// Before: ops of the fused level. After: every sdpa has a schedule.
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Utils/DecodeRows.h"
#include "attn/Schedule/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

namespace attn {
#define GEN_PASS_DEF_ASSIGNGPUSCHEDULE
#include "attn/Schedule/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// A row of the table; the first that fits counts.
struct GPURule {
  int64_t keyFeatures, valueFeatures; ///< at most
  int64_t queryTile, keyTile, warps;
};

/// The same of kind decode. A warp has 16 rows.
struct GPUDecodeRule {
  int64_t keyFeatures, valueFeatures; ///< at most
  int64_t rows;                       ///< of a block, at most
  int64_t keyTile, splitKeys;
};
} // namespace

/// The most queries per head that are rows of one block, and the most rows.
static constexpr int64_t mostFewQueries = 16, mostRows = 128;

// Registers of a thread hold sums of all features of 16 or 32 queries, and the
// scores of a step; what does not fit is spilled, which `--emit=cubin` says. A
// warp of 32 queries takes half as many reads of keys and values from shared
// memory for its products as two of 16, whose reads take longer than these
// (--explain). Two blocks of a multiprocessor need half of its 164 KB.
// clang-format off
static constexpr GPURule sm80Rules[] = {
  // features, queries, keys, warps
  {64,  64,  128, 64, 4},
  {128, 128, 128, 32, 4}, // 64 keys are spilled
  {256, 256, 128, 64, 8}, // sums of 16 queries take 128 registers
  {640, 256, 64,  32, 4}, // 141 KB of shared memory
};

// Rows of f32 are twice as long, and weights keep their registers until the
// product with the values.
static constexpr GPURule sm80RulesOfF32[] = {
  {128, 128, 128, 64, 8}, // 135 KB
  {256, 256, 64,  32, 4}, // 133 KB
  {640, 256, 32,  16, 2}, // 140 KB
};

// Memory is what counts. A block of one warp has 34 KB of keys or values on
// their way, and a multiprocessor several such blocks. A state takes as many
// bytes as 4 to 8 keys, so that a part of 512 costs a percent, and a head of
// 8192 keys is 16 blocks.
static constexpr GPUDecodeRule sm80DecodeRules[] = {
  // features, rows, keys, keys of a part
  {64,  64,  16,  128, 512},
  {64,  64,  128, 64,  512},
  {128, 128, 16,  128, 512}, // 74 KB of shared memory
  {128, 128, 128, 64,  512},
  {256, 256, 64,  32,  256},
  {640, 256, 64,  32,  256}, // 141 KB for 64 rows
};
static constexpr GPUDecodeRule sm80DecodeRulesOfF32[] = {
  {128, 128, 64, 32, 256},
  {256, 256, 32, 16, 256},
  {640, 256, 32, 16, 256}, // 139 KB for 32 rows
};
// clang-format on

static InFlightDiagnostic refuse(Operation *op, const Twine &what) {
  InFlightDiagnostic error = op->emitOpError("is not built for sm_80: ");
  error << what;
  return error;
}

/// Elements that the kernels multiply: all of one type.
static LogicalResult checkElements(SdpaOp op) {
  Type query = op.getQuery().getType().getElementType();
  Type value = op.getValue().getType().getElementType();
  if (!query.isF16() && !query.isBF16() && !query.isF32())
    return refuse(op, "queries and keys of f16, bf16 or f32 are, but got ")
           << query;
  if (value != query)
    return refuse(op, "values of the queries' type are, but got ") << value;
  return success();
}

static LogicalResult check(SdpaOp op) {
  if (failed(checkElements(op)))
    return failure();
  if (op.isDifferential())
    return refuse(op, "the difference of two maps");
  if (op.getDropoutAttr())
    return refuse(op, "dropout");
  return success();
}

static FailureOr<GPUScheduleAttr> choose(SdpaOp op) {
  int64_t ofKeys = op.getQuery().getType().getShape().back();
  int64_t ofValues = op.getValue().getType().getShape().back();
  Type element = op.getQuery().getType().getElementType();
  ArrayRef<GPURule> rules = sm80Rules;
  if (element.isF32())
    rules = sm80RulesOfF32;
  for (const GPURule &rule : rules)
    if (ofKeys <= rule.keyFeatures && ofValues <= rule.valueFeatures)
      return GPUScheduleAttr::get(op.getContext(), rule.queryTile, rule.keyTile,
                                  rule.warps, Kind::Prefill, /*split_keys=*/0);
  return refuse(op, "keys of up to 640 features and values of up to 256 are, "
                    "but got ")
         << ofKeys << " and " << ofValues;
}

namespace {
/// What there are rows for in kind decode.
struct FewQueries {
  int64_t heads, queries; ///< packed heads; queries of each, dynamic if unknown
  bool ofDocuments;       ///< on average, of each document

  explicit FewQueries(SdpaOp op)
      : heads(packedHeads(op)),
        queries(op.getQuery().getType().getDimSize(op.queryDims().sequence)),
        ofDocuments(countsDocuments(op)) {
    if (ofDocuments)
      queries = ShapedType::kDynamic;
  }
  bool known() const { return !ShapedType::isDynamic(queries); }

  /// Rows of a block, of which there are at most so many. Of an unknown number
  /// of queries, as many as four warps take.
  int64_t rows(int64_t most) const {
    int64_t limit = known() ? most : std::min<int64_t>(most, 64);
    int64_t ofEach = known() ? queries : mostFewQueries;
    int64_t packed = largestPart(
        heads, std::max<int64_t>(1, limit / (known() ? queries : 1)));
    auto all = static_cast<uint64_t>(std::min(packed * ofEach, limit));
    return std::max<int64_t>(16, static_cast<int64_t>(llvm::PowerOf2Ceil(all)));
  }
};
} // namespace

/// The first row of the table that has room for all rows, else for features.
static const GPUDecodeRule *decodeRule(SdpaOp op, const FewQueries &few) {
  int64_t ofKeys = op.getQuery().getType().getShape().back();
  int64_t ofValues = op.getValue().getType().getShape().back();
  ArrayRef<GPUDecodeRule> rules = sm80DecodeRules;
  if (op.getQuery().getType().getElementType().isF32())
    rules = sm80DecodeRulesOfF32;
  const GPUDecodeRule *widest = nullptr;
  for (const GPUDecodeRule &rule : rules) {
    if (ofKeys > rule.keyFeatures || ofValues > rule.valueFeatures ||
        (widest && rule.rows <= widest->rows))
      continue;
    widest = &rule;
    if (few.rows(mostRows) <= rule.rows)
      break;
  }
  return widest;
}

static remark::detail::InFlightRemark missed(SdpaOp op, StringRef name) {
  return remark::missed(op.getLoc(), remark::RemarkOpts::name(name).category(
                                         "attn-assign-gpu-schedule"));
}

/// Says why few queries are not computed as such, or heads of a group apart.
static void remarkFewQueries(SdpaOp op, const FewQueries &few) {
  if (few.heads == 0)
    missed(op, "FewQueriesAsMany")
        << ("few queries are computed as many are: " + op.whyKeysStayTogether())
               .str();
  if (few.heads != 1 || op.queryDims().head < 0)
    return;
  int64_t queryHeads = op.getQuery().getType().getDimSize(op.queryDims().head),
          keyHeads = op.getKey().getType().getDimSize(op.keyDims().head);
  if (queryHeads != keyHeads)
    missed(op, "HeadsApart")
        << "heads that share a key head are not rows of one block, and each "
           "reads its keys: how many there are is not known, or mask or bias "
           "may differ between them";
}

/// The schedule of kind decode; none where the op has no kernel for it.
static std::optional<GPUScheduleAttr> chooseDecode(SdpaOp op,
                                                   int64_t splitKeys) {
  FewQueries few(op);
  const GPUDecodeRule *rule = decodeRule(op, few);
  bool many = few.known() && (few.queries > mostFewQueries || !few.queries);
  if (!rule || splitKeys == 0 || many)
    return std::nullopt;
  constexpr int64_t mostKeys = int64_t(1) << 31;
  int64_t keys =
      splitKeys < 0 ? rule->splitKeys : std::min(splitKeys, mostKeys);
  keys = std::max<int64_t>(1, keys / rule->keyTile) * rule->keyTile;
  int64_t length = op.getKey().getType().getDimSize(op.keyDims().sequence);
  if (!ShapedType::isDynamic(length) && length <= keys)
    return std::nullopt; // one part would need no second kernel
  if (few.known())
    remarkFewQueries(op, few);
  if (few.heads == 0)
    return std::nullopt;
  int64_t tile = few.rows(rule->rows);
  return GPUScheduleAttr::get(op.getContext(), tile, rule->keyTile, tile / 16,
                              Kind::Decode, keys);
}

namespace {
struct AssignGPUSchedule
    : attn::impl::AssignGPUScheduleBase<AssignGPUSchedule> {
  using AssignGPUScheduleBase::AssignGPUScheduleBase;

  LogicalResult assign(SdpaOp op) {
    if (failed(check(op)))
      return failure();
    for (Attribute schedule :
         {op.getScheduleAttr(), op.getDecodeScheduleAttr()})
      if (schedule && !isa<GPUScheduleAttr>(schedule))
        return refuse(op, "the schedule is one for a CPU");
    if (op.getScheduleAttr() || op.getDecodeScheduleAttr())
      return success();
    if (auto decode = chooseDecode(op, decodeSplitKeys)) {
      op.setDecodeScheduleAttr(*decode);
      if (FewQueries(op).known())
        return success();
    }
    FailureOr<GPUScheduleAttr> schedule = choose(op);
    if (failed(schedule))
      return failure();
    op.setScheduleAttr(*schedule);
    return success();
  }

  void runOnOperation() override {
    getOperation()->walk([&](SdpaGradOp op) {
      if (!op.getDropoutAttr())
        return;
      refuse(op, "dropout");
      signalPassFailure();
    });
    getOperation()->walk([&](SdpaOp op) {
      if (failed(assign(op)))
        signalPassFailure();
    });
  }
};
} // namespace
