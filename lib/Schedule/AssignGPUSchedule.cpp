// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the tile sizes of every attention from a table: the first row that
// has its features and fits into the shared memory of the target's blocks.
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
// Products get tiles, too, where these are known to be full enough
// (GPUProjectRules.cpp).
// Before: ops of the fused level. After: every sdpa has a schedule.
#include "GPURules.h"
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
/// A row of the table.
struct GPURule {
  int64_t keyFeatures, valueFeatures; ///< at most
  int64_t queryTile, keyTile, warps;
  unsigned since = 80; ///< compute capability of the chips, times 10
  unsigned reads = 99; ///< of a pair's score in tensors, at most
  int64_t blocks = 1;  ///< at least, that a multiprocessor has room for
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

/// Of the last rows below.
static constexpr int64_t mostKeyFeatures = 640, mostValueFeatures = 256;

/// Of a module that names no target.
static constexpr int64_t sharedBytesOfSm80 = 163 << 10;

// Registers of a thread hold sums of all features of 16 or 32 queries, and the
// scores of a step; what does not fit is spilled, which `--emit=cubin` says. A
// warp of 32 queries takes half as many reads of keys and values from shared
// memory for its products as two of 16, whose reads take longer than these
// (--explain). Two blocks of a multiprocessor need half of its memory. Rows
// of sm_90 are timed on Hopper (docs/measurements), no other chip's are.
// clang-format off
static constexpr GPURule gpuRules[] = {
  // features, queries, keys, warps
  {64,  64,  128, 96, 4, 90, 0},
  {64,  64,  128, 64, 4, 80, 1},
  {64,  64,  128, 32, 4}, // addresses take registers
  {128, 128, 128, 48, 4, 90, 0}, // of 64 keys, some are spilled
  {128, 128, 128, 32, 4, 80, 2},
  {128, 128, 64,  32, 4},
  {256, 256, 64,  64, 4, 90, 99, 2}, // two blocks are faster than one of 8 warps
  {256, 256, 128, 64, 8}, // sums of 16 queries take 128 registers
  {256, 256, 64,  32, 4}, // 68 KB of shared memory
  {640, 256, 64,  32, 4}, // 141 KB
  {640, 256, 32,  16, 2}, // 71 KB
};

// Rows of f32 are twice as long, and weights keep their registers until the
// product with the values.
static constexpr GPURule gpuRulesOfF32[] = {
  {128, 128, 128, 64, 8}, // 135 KB
  {128, 128, 64,  32, 4}, // 68 KB
  {256, 256, 64,  32, 4}, // 133 KB
  {256, 256, 32,  16, 2}, // 67 KB
  {640, 256, 32,  16, 2}, // 140 KB
  {640, 256, 16,  16, 1}, // 99 KB
};

// Memory is what counts. A block of one warp has 17 KB of keys or values on
// their way, and a multiprocessor several such blocks: of twice as large ones
// too few are there at once where a batch is small. A state takes as many
// bytes as 4 to 8 keys, so that a part of 512 costs a percent, and a head of
// 8192 keys is 16 blocks.
static constexpr GPUDecodeRule gpuDecodeRules[] = {
  // features, rows, keys, keys of a part
  {64,  64,  16,  128, 512},
  {64,  64,  128, 64,  512},
  {128, 128, 128, 64,  512},
  {256, 256, 64,  32,  256},
  {640, 256, 64,  32,  256}, // 141 KB for 64 rows
  {640, 256, 32,  32,  256}, // 100 KB
};
static constexpr GPUDecodeRule gpuDecodeRulesOfF32[] = {
  {128, 128, 64, 32, 256},
  {256, 256, 32, 16, 256},
  {640, 256, 32, 16, 256}, // 140 KB for 32 rows
  {640, 256, 16, 16, 256}, // 99 KB
};
// clang-format on

static InFlightDiagnostic refuse(Operation *op, const Twine &what) {
  InFlightDiagnostic error = op->emitOpError("is not built for a GPU: ");
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
  return success();
}

namespace {
/// What a block keeps in shared memory, and how much of that there is.
struct BlockMemory {
  int64_t ofKeys, ofValues; ///< features
  Type element;
  int64_t most;

  explicit BlockMemory(SdpaOp op)
      : ofKeys(op.getQuery().getType().getShape().back()),
        ofValues(op.getValue().getType().getShape().back()),
        element(op.getQuery().getType().getElementType()),
        most(TargetAttr::of(op).getSharedBytes()) {
    if (most == 0)
      most = sharedBytesOfSm80;
  }

  template <typename Rule> bool hasFeaturesOf(const Rule &rule) const {
    return ofKeys <= rule.keyFeatures && ofValues <= rule.valueFeatures;
  }
  int64_t bytesOf(GPUScheduleAttr schedule) const {
    return schedule.sharedBytes(ofKeys, ofValues, element);
  }
  /// Of what a multiprocessor has, each block takes 1 KB for itself, and a
  /// block may have all but that.
  bool has(GPUScheduleAttr schedule, int64_t blocks = 1) const {
    constexpr int64_t ofBlock = 1 << 10;
    return (bytesOf(schedule) + ofBlock) * blocks <= most + ofBlock;
  }
};
} // namespace

unsigned attn::computeCapability(Operation *op) {
  StringRef chip = TargetAttr::of(op).getProcessor();
  unsigned capability = 80;
  if (chip.consume_front("sm_"))
    chip.getAsInteger(10, capability);
  return capability;
}

/// In how many tensors of pairs a score reads; the generator of a dropout takes
/// registers as three of them do.
static unsigned readsOfPair(SdpaOp op) {
  auto isOfPairs = [](Value operand) {
    auto type = dyn_cast<ShapedType>(operand.getType());
    return type && type.getRank() > 1;
  };
  return (op.getBias() ? 1 : 0) + (op.getDropoutAttr() ? 3 : 0) +
         llvm::count_if(op.getMaskOperands(), isOfPairs) +
         llvm::count_if(op.getCaptures(), isOfPairs);
}

static FailureOr<GPUScheduleAttr> choose(SdpaOp op) {
  BlockMemory memory(op);
  unsigned capability = computeCapability(op), reads = readsOfPair(op);
  for (const GPURule &rule :
       memory.element.isF32() ? ArrayRef(gpuRulesOfF32) : ArrayRef(gpuRules)) {
    auto schedule =
        GPUScheduleAttr::get(op.getContext(), rule.queryTile, rule.keyTile,
                             rule.warps, Kind::Prefill, /*split_keys=*/0);
    if (memory.hasFeaturesOf(rule) && memory.has(schedule, rule.blocks) &&
        capability >= rule.since && reads <= rule.reads)
      return schedule;
  }
  int64_t keys = op.getKey().getType().getDimSize(op.keyDims().feature);
  int64_t values = op.getValue().getType().getDimSize(op.valueDims().feature);
  if (keys > mostKeyFeatures)
    return refuse(op, "keys of up to ")
           << mostKeyFeatures << " features are, but got " << keys;
  return refuse(op, "a state of values of up to ")
         << mostValueFeatures << " features is, but got " << values;
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

static GPUScheduleAttr decodeSchedule(SdpaOp op, const FewQueries &few,
                                      const GPUDecodeRule &rule, int64_t keys) {
  int64_t tile = few.rows(rule.rows);
  return GPUScheduleAttr::get(op.getContext(), tile, rule.keyTile, tile / 16,
                              Kind::Decode, keys);
}

/// The first row of the table that has room for all rows, else for features.
static const GPUDecodeRule *decodeRule(SdpaOp op, const FewQueries &few) {
  BlockMemory memory(op);
  const GPUDecodeRule *widest = nullptr;
  for (const GPUDecodeRule &rule : memory.element.isF32()
                                       ? ArrayRef(gpuDecodeRulesOfF32)
                                       : ArrayRef(gpuDecodeRules)) {
    if (!memory.hasFeaturesOf(rule) ||
        !memory.has(decodeSchedule(op, few, rule, rule.splitKeys)) ||
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
  if (!rule || splitKeys == 0 || many || op.getDropoutAttr())
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
  return decodeSchedule(op, few, *rule, keys);
}

/// One that was written by hand.
static LogicalResult checkPinned(SdpaOp op, Attribute schedule) {
  auto ofGPU = dyn_cast<GPUScheduleAttr>(schedule);
  if (!ofGPU)
    return refuse(op, "the schedule is one for a CPU");
  if (ofGPU.getColumnWarps() != 1 || ofGPU.getFeatureParts() != 1)
    return refuse(op, "column_warps and feature_parts are for products");
  BlockMemory memory(op);
  if (memory.has(ofGPU))
    return success();
  return refuse(op, "a block of the schedule takes ")
         << memory.bytesOf(ofGPU) << " bytes of shared memory, and has "
         << memory.most;
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
      if (schedule && failed(checkPinned(op, schedule)))
        return failure();
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
    DenseSet<Location> refused; // parts of one attention have one place
    getOperation()->walk([&](SdpaOp op) {
      if (refused.contains(op.getLoc()) || succeeded(assign(op)))
        return;
      refused.insert(op.getLoc());
      signalPassFailure();
    });
    getOperation()->walk([&](ProjectOp op) {
      if (failed(assignGPU(op)))
        signalPassFailure();
    });
  }
};
} // namespace
