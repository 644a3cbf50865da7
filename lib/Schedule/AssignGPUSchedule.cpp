// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the tile sizes of every attention from the table of a GPU.
//
// Before:  attn.sdpa %q, %k, %v scale 0.125 : (..) -> ..
// After:   attn.sdpa %q, %k, %v scale 0.125
//            {schedule = #attn.gpu_schedule<query_tile = 128, key_tile = 64,
//            warps = 4>}
//
// What no kernel of a GPU does is refused by its name, at the op. An op that
// carries a schedule for a GPU keeps it.
// Before: ops of the fused level. After: every sdpa has a schedule.
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Schedule/Passes.h"

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
} // namespace

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
struct AssignGPUSchedule
    : attn::impl::AssignGPUScheduleBase<AssignGPUSchedule> {
  LogicalResult assign(SdpaOp op) {
    if (failed(check(op)))
      return failure();
    for (Attribute schedule :
         {op.getScheduleAttr(), op.getDecodeScheduleAttr()})
      if (schedule && !isa<GPUScheduleAttr>(schedule))
        return refuse(op, "the schedule is one for a CPU");
    if (op.getDecodeScheduleAttr())
      return refuse(op, "decode_schedule");
    if (op.getScheduleAttr())
      return success();
    FailureOr<GPUScheduleAttr> schedule = choose(op);
    if (failed(schedule))
      return failure();
    op.setScheduleAttr(*schedule);
    return success();
  }

  void runOnOperation() override {
    getOperation()->walk([&](SdpaOp op) {
      if (failed(assign(op)))
        signalPassFailure();
    });
  }
};
} // namespace
