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
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
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
  /// The longer one of a key's and a value's row, at most.
  int64_t features;
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
  {64,  128, 64, 4},
  {128, 128, 32, 4}, // 64 keys are spilled
  {256, 128, 64, 8}, // sums of 16 queries take 128 registers
};
// clang-format on

static InFlightDiagnostic refuse(Operation *op, const Twine &what) {
  InFlightDiagnostic error = op->emitOpError("is not built for sm_80: ");
  error << what;
  return error;
}

/// Elements that the kernels multiply: both of one type of 16 bits.
static LogicalResult checkElements(SdpaOp op) {
  Type query = op.getQuery().getType().getElementType();
  Type value = op.getValue().getType().getElementType();
  if (!query.isF16() && !query.isBF16())
    return refuse(op, "queries and keys of f16 or bf16 are, but got ") << query;
  if (value != query)
    return refuse(op, "values of the queries' type are, but got ") << value;
  return success();
}

static LogicalResult check(SdpaOp op) {
  if (failed(checkElements(op)))
    return failure();
  if (op.isDifferential())
    return refuse(op, "the difference of two maps");
  if (op.isSigmoid())
    return refuse(op, "normalization by sigmoid");
  if (op.getWeights() || op.getScores())
    return refuse(op, "weights or scores as results");
  if (op.getAcc())
    return refuse(op, "the state as a result");
  for (Attribute term : leafTerms(op.getMaskAttr()))
    if (isa<DocumentAttr>(term))
      return refuse(op, "the mask term document");
  return success();
}

static FailureOr<GPUScheduleAttr> choose(SdpaOp op) {
  int64_t features = std::max(op.getQuery().getType().getShape().back(),
                              op.getValue().getType().getShape().back());
  for (const GPURule &rule : sm80Rules)
    if (features <= rule.features)
      return GPUScheduleAttr::get(op.getContext(), rule.queryTile, rule.keyTile,
                                  rule.warps, Kind::Prefill, /*split_keys=*/0);
  return refuse(op, "head dimensions up to 256 are, but got ") << features;
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
